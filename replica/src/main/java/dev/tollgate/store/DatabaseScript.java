package dev.tollgate.store;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.FenceReading;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.TableName;
import dev.tollgate.store.h2.H2Database;
import dev.tollgate.store.h2.H2Statements;
import dev.tollgate.store.h2.Nesting;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.store.statement.LockAccess;
import dev.tollgate.store.statement.StatementMeter;
import dev.tollgate.store.statement.StoreCommand;
import dev.tollgate.store.statement.SystemTable;
import dev.tollgate.store.transfer.DatabaseDump;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.SqlState;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.h2.command.dml.ScriptCommand;
import org.h2.engine.IsolationLevel;
import org.h2.engine.Right;
import org.h2.engine.RightOwner;
import org.h2.engine.SessionLocal;
import org.h2.engine.User;
import org.h2.index.Cursor;
import org.h2.message.DbException;
import org.h2.result.ResultInterface;
import org.h2.result.Row;
import org.h2.result.SimpleResult;
import org.h2.schema.Schema;
import org.h2.table.Table;
import org.h2.table.TableType;
import org.h2.util.HasSQL;
import org.h2.value.TypeInfo;
import org.h2.value.Value;
import org.h2.value.ValueVarchar;
import org.jspecify.annotations.Nullable;

/**
 * The result of SCRIPT: H2's lines without the node's own users, rights and settings, followed by
 * the fences, which H2 does not know. All rows show the same moment. All fences show an earlier
 * one, because they are read first. No definition runs meanwhile.
 *
 * <p>H2 lets only administrators run SCRIPT, so the script runs on its own session. Belongs to one
 * thread.
 */
final class DatabaseScript implements AutoCloseable {
  // columns of TOLLGATE.FENCES
  private static final int TABLE_SCHEMA = 0;
  private static final int TABLE_NAME = 1;
  private static final int LOCK_NAME = 2;
  private static final int READING = 3;
  private static final int ROW_LOCK = 5;

  /** Maximum bytes of a character in a frame. */
  private static final int BYTES_PER_CHARACTER = 3;

  /** Bytes that a row takes in memory besides its values. */
  private static final int ROW_BYTES = 64;

  /** This many bytes of values count as one more examined row. */
  private static final int BYTES_PER_STEP = 1 << 10;

  private final H2Database database;
  private final LockAccess locks;
  private final StatementMeter meter;
  private final SessionLocal session;
  private final ScriptCommand script;
  private final StoreCommand command;

  /**
   * @param schema where unqualified names are looked up
   * @param sql a SCRIPT that writes no file
   * @param meter decides whether the script may go on
   */
  DatabaseScript(
      H2Database database, String schema, String sql, LockAccess locks, StatementMeter meter) {
    this.database = requireNonNull(database, "database");
    this.locks = requireNonNull(locks, "locks");
    this.meter = requireNonNull(meter, "meter");
    session = database.openAdministration();
    try {
      // H2 opens one table after another; only a snapshot shows all tables at one moment
      session.setAutoCommit(false);
      session.setIsolationLevel(IsolationLevel.SNAPSHOT);
      H2Database.enterSchema(session, schema);
      script = (ScriptCommand) session.prepare(sql);
      command = new StoreCommand(session, sql, script, locks, meter);
    } catch (RuntimeException e) {
      session.close();
      throw e;
    }
    script.setPasswords(false);
    script.setSettings(false);
    // otherwise H2 splits large objects into pieces, which alias functions put together
    script.setLobBlockSize(Integer.MAX_VALUE);
    if (H2Statements.schemasOf(script) == null) {
      script.setSchemaNames(schemasOfClients());
    }
  }

  StoreCommand command() {
    return command;
  }

  /**
   * Runs the script.
   *
   * @param maxRows maximum number of rows in the result, 0 for all
   * @throws DbException if the rows take more bytes than {@link Limits#SCRIPT_BYTES}
   */
  ResultInterface rows(long maxRows) {
    List<@Nullable Object[]> fences = new ArrayList<>();
    locks.rows(SystemTable.FENCES).forEach(fences::add);
    List<String> lines = new ArrayList<>();
    Set<String> own = linesOfTheNode();
    session.startStatementWithinTransaction(command);
    requireBounded();
    try (ResultInterface all = command.executeQuery(0, 0, /* scrollable= */ false)) {
      while (all.next()) {
        String line = requireNonNull(all.currentRow()[0].getString(), "line");
        requireSendable(line);
        if (!own.contains(line)) {
          lines.add(withoutOwner(line));
        }
      }
    }
    addFences(lines, fences);
    SimpleResult result = new SimpleResult();
    result.addColumn("SCRIPT", TypeInfo.TYPE_VARCHAR);
    lines.stream()
        .limit(maxRows == 0 ? Long.MAX_VALUE : maxRows)
        .forEach(line -> result.addRow(ValueVarchar.get(line, session)));
    return result;
  }

  /**
   * Checks the size of all rows beforehand. H2 checks whether to go on only every 128 rows, and
   * rows can have any length.
   */
  private void requireBounded() {
    if (!H2Statements.hasRows(script)) {
      return;
    }
    long bytes = 0;
    for (Table table : database.h2().getAllTablesAndViews()) {
      if (table.getTableType() == TableType.TABLE && isScripted(table)) {
        Cursor rows = table.getScanIndex(session).find(session, null, null, false);
        while (rows.next()) {
          long row = bytesOf(rows.get());
          bytes += row;
          meter.looked(1 + (int) (row / BYTES_PER_STEP));
          if (bytes > Limits.SCRIPT_BYTES) {
            throw tooLarge("the rows take more than " + Limits.SCRIPT_BYTES + " bytes");
          }
        }
      }
    }
  }

  private boolean isScripted(Table table) {
    Set<?> schemas = H2Statements.schemasOf(script);
    Collection<?> tables = H2Statements.tablesOf(script);
    return (schemas == null || schemas.contains(table.getSchema().getName()))
        && (tables == null || tables.contains(table));
  }

  private static long bytesOf(Row row) {
    long bytes = ROW_BYTES;
    for (Value value : row.getValueList()) {
      bytes += Nesting.bytesOf(value, Limits.SCRIPT_BYTES);
    }
    return bytes;
  }

  private static void requireSendable(String line) {
    if (line.length() > Protocol.MAX_FRAME_BYTES / BYTES_PER_CHARACTER) {
      throw tooLarge("a row takes more than a frame has room for");
    }
  }

  private static DbException tooLarge(String reason) {
    return DbException.convert(
        SqlErrors.exception(
            SqlState.TOO_LARGE,
            "SCRIPT was ended, because "
                + reason
                + ": name fewer tables with TABLE, leave the rows out with NODATA, or take a dump"
                + " of a backup with tollgate dump"));
  }

  private Set<String> schemasOfClients() {
    return database.h2().getAllSchemas().stream()
        .map(Schema::getName)
        .filter(name -> !name.equals(H2Database.SYSTEM_SCHEMA))
        .collect(Collectors.toSet());
  }

  private Set<String> linesOfTheNode() {
    Set<String> lines = new HashSet<>();
    for (RightOwner owner : database.h2().getAllUsersAndRoles()) {
      if (owner instanceof User user) {
        lines.add(user.getCreateSQL(/* password= */ false) + ";");
      }
    }
    for (Right right : database.h2().getAllRights()) {
      String sql = right.getCreateSQL();
      if (right.getGrantee() instanceof User || database.isBuiltIn(sql)) {
        lines.add(sql + ";");
      }
    }
    return lines;
  }

  /** Removes the owner from the SQL of a schema: the script has no users. */
  private String withoutOwner(String line) {
    for (Schema schema : database.h2().getAllSchemas()) {
      String owner = " AUTHORIZATION " + schema.getOwner().getSQL(HasSQL.DEFAULT_SQL_FLAGS) + ";";
      if (line.startsWith("CREATE SCHEMA ") && line.endsWith(owner)) {
        return line.substring(0, line.length() - owner.length()) + ";";
      }
    }
    return line;
  }

  private void addFences(List<String> lines, List<@Nullable Object[]> fences) {
    Set<String> shown = new HashSet<>(lines);
    for (@Nullable Object[] fence : fences) {
      TableName name = new TableName(text(fence, TABLE_SCHEMA), text(fence, TABLE_NAME));
      Schema schema = session.getDatabase().findSchema(name.schema());
      Table table = schema == null ? null : schema.findTableOrView(session, name.name());
      if (table != null && shown.contains(table.getCreateSQL() + ";")) {
        lines.add(DatabaseDump.fenceSql(name, terms(fence)) + ";");
      }
    }
  }

  private static Operation.FenceTerms terms(@Nullable Object[] fence) {
    return fence[ROW_LOCK] != null
        ? new Operation.RowFence(text(fence, ROW_LOCK))
        : new Operation.TableFence(
            new LockName(text(fence, LOCK_NAME)), FenceReading.valueOf(text(fence, READING)));
  }

  private static String text(@Nullable Object[] fence, int column) {
    return (String) requireNonNull(fence[column], "column");
  }

  @Override
  public void close() {
    session.close();
  }
}
