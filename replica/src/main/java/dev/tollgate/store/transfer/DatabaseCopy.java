package dev.tollgate.store.transfer;

import dev.tollgate.snapshot.Checksums;
import dev.tollgate.snapshot.SnapshotWriter;
import dev.tollgate.store.h2.H2Database;
import dev.tollgate.store.h2.H2Numbers;
import dev.tollgate.store.h2.HiddenConstraint;
import dev.tollgate.store.h2.RowNumbers;
import dev.tollgate.store.h2.StoredDefinition;
import dev.tollgate.store.h2.StoredExpression;
import dev.tollgate.store.h2.StoredObject;
import dev.tollgate.store.h2.StoredView;
import dev.tollgate.store.statement.ReaderGate;
import dev.tollgate.value.ValueCodec;
import dev.tollgate.wire.WireWriter;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.BiConsumer;
import org.h2.constraint.Constraint;
import org.h2.engine.SessionLocal;
import org.h2.index.Cursor;
import org.h2.index.Index;
import org.h2.result.Row;
import org.h2.schema.Schema;
import org.h2.table.Table;
import org.h2.table.TableType;
import org.h2.value.Value;

/**
 * The committed state of the database at one moment. The copy is written, or compared with those of
 * other replicas, while the database goes on changing. H2 keeps the rows of that moment for the
 * cursors that were opened then. A definition would remove these rows, so it waits. If the wait is
 * long, the definition ends the copy.
 *
 * <p>Definitions are copied with the ids of the objects, and in the order in which a restore makes
 * them. So generated names, and the order of indexes and constraints, come back as they were. The
 * apply thread begins a copy; any one thread writes it.
 */
public final class DatabaseCopy implements AutoCloseable {
  public static final int DEFINITION = 32;
  static final int TABLE = 33;
  public static final int ROWS = 34;
  public static final int OBJECT_IDS = 35;
  public static final int ROW_NUMBERS = 36;
  static final int VIEW = 37;
  static final int EXPRESSION = 38;

  private static final int BLOCK_BYTES = 64 << 10;

  /** A table with its indexes and constraints, as they stood at that moment, and its rows. */
  private record TableRows(
      String schema,
      String name,
      List<String> indexes,
      List<String> comparableIndexes,
      List<String> constraints,
      RowNumbers numbers,
      Cursor rows) {
    static TableRows of(Table table, SessionLocal session) {
      return new TableRows(
          table.getSchema().getName(),
          table.getName(),
          indexesOf(table).stream().map(Index::getName).toList(),
          indexesOf(table).stream().map(DatabaseCopy::comparableName).toList(),
          constraintsOf(table).stream().map(Constraint::getTraceSQL).toList(),
          RowNumbers.of(table, session),
          table.getScanIndex(session).find(session, null, null, false));
    }
  }

  private final ReaderGate gate;
  private final Reading reading;
  private final SessionLocal session;
  private final List<StoredDefinition> definitions;
  private final long[] objectIds;
  private final List<TableRows> tables = new ArrayList<>();

  /** The query that a definition cancels if the definition has to wait too long. */
  private static final class Reading implements ReaderGate.Query {
    private final boolean insistent;
    private volatile boolean cancelled;

    Reading(boolean insistent) {
      this.insistent = insistent;
    }

    @Override
    public void cancelForDefinition() {
      cancelled = !insistent;
    }

    @Override
    public void endForDefinition() {
      cancelled = true;
    }
  }

  /**
   * Begins a copy.
   *
   * @param insistent true if definitions wait until the copy is written, for a long time
   */
  public DatabaseCopy(H2Database database, ReaderGate gate, boolean insistent) {
    this.gate = gate;
    this.reading = new Reading(insistent);
    gate.enter(reading);
    session = database.openAdministration();
    // keeps large objects that are deleted meanwhile
    session.startStatementWithinTransaction(null);
    definitions = database.definitionsOfClients();
    objectIds = H2Numbers.takenObjectIds(database.h2());
    for (Schema schema : database.h2().getAllSchemasNoMeta()) {
      for (Table table : schema.getAllTablesAndViews(session)) {
        if (table.getTableType() == TableType.TABLE && !table.isTemporary()) {
          tables.add(TableRows.of(table, session));
        }
      }
    }
  }

  private static String comparableName(Index index) {
    return StoredObject.isOfConstraint(index)
        ? index.getIndexType().isUnique() + Arrays.toString(index.getColumns())
        : index.getName();
  }

  /**
   * Writes the copy. Can be called once.
   *
   * @throws InterruptedIOException if a definition ended the copy: try again
   */
  public void writeTo(SnapshotWriter out) throws IOException {
    WireWriter body = new WireWriter(2 * BLOCK_BYTES);
    for (StoredDefinition definition : definitions) {
      body.clear();
      out.record(write(definition, body), body);
    }
    for (TableRows table : tables) {
      body.clear();
      body.string(table.schema()).string(table.name());
      table.numbers().writeTo(body);
      out.record(ROW_NUMBERS, body);
    }
    body.clear();
    for (long ids : objectIds) {
      body.i64(ids);
    }
    out.record(OBJECT_IDS, body);
    for (TableRows table : tables) {
      requireNotCancelled();
      write(out, body, table);
    }
  }

  private static int write(StoredDefinition definition, WireWriter body) {
    if (definition instanceof StoredObject object) {
      body.i32(object.id()).string(object.name()).string(object.statement());
      return DEFINITION;
    }
    if (definition instanceof StoredView view) {
      body.i32(view.id()).string(view.schema()).string(view.view());
      List<String> columns = view.columns();
      body.flag(columns != null);
      if (columns != null) {
        names(body, columns);
      }
      String comment = view.comment();
      body.flag(comment != null);
      if (comment != null) {
        body.string(comment);
      }
      body.string(view.query());
      return VIEW;
    }
    StoredExpression expression = (StoredExpression) definition;
    body.u8(expression.kind().code());
    body.string(expression.schema()).string(expression.object());
    String column = expression.column();
    body.flag(column != null);
    if (column != null) {
      body.string(column);
    }
    body.string(expression.text());
    return EXPRESSION;
  }

  /**
   * Computes a checksum of the definitions and one of each table. Can be called once, instead of
   * {@link #writeTo}. Leaves out what may rightly differ between replicas:
   *
   * <ul>
   *   <li>Keys of rows and ids of objects. A restored replica may have others where rows are gone,
   *       or where a later version of Tollgate has objects of its own.
   *   <li>Names that H2 gives to indexes of constraints.
   * </ul>
   *
   * @param parts receives the name of a part and its SHA-256
   * @throws InterruptedIOException if a definition ended the copy
   */
  public void checksums(BiConsumer<String, byte[]> parts) throws InterruptedIOException {
    MessageDigest digest = Checksums.sha256();
    WireWriter body = new WireWriter(2 * BLOCK_BYTES);
    body.clear();
    definitions.stream()
        .map(StoredDefinition::comparable)
        .filter(Objects::nonNull)
        .sorted()
        .forEach(body::string);
    digest.update(body.array(), 0, body.size());
    parts.accept("definitions", digest.digest());
    for (TableRows table : tables) {
      requireNotCancelled();
      body.clear();
      names(body, table.comparableIndexes());
      names(body, table.constraints());
      while (table.rows().next()) {
        for (Value value : table.rows().get().getValueList()) {
          ValueCodec.write(body, value);
        }
        if (body.size() >= BLOCK_BYTES) {
          digest.update(body.array(), 0, body.size());
          body.clear();
          requireNotCancelled();
        }
      }
      digest.update(body.array(), 0, body.size());
      parts.accept("table " + table.schema() + "." + table.name(), digest.digest());
    }
  }

  private static void names(WireWriter body, List<String> names) {
    body.i32(names.size());
    names.forEach(body::string);
  }

  /**
   * Ends what reads the copy, if a definition has ended the copy.
   *
   * @throws InterruptedIOException if that is so
   */
  public void requireNotCancelled() throws InterruptedIOException {
    if (reading.cancelled) {
      throw new InterruptedIOException("a definition waits for the copy");
    }
  }

  /**
   * The indexes in the order in which H2 fills them, without the first, that of the table itself.
   */
  static List<Index> indexesOf(Table table) {
    List<Index> indexes = table.getIndexes();
    return indexes.subList(1, indexes.size());
  }

  /**
   * The constraints in the order in which H2 checks them, without row guards, which come with
   * fences.
   */
  static List<Constraint> constraintsOf(Table table) {
    List<Constraint> constraints = new ArrayList<>();
    for (Constraint constraint : table.getConstraints()) {
      if (!(constraint instanceof HiddenConstraint) && !constraints.contains(constraint)) {
        constraints.add(constraint);
      }
    }
    return constraints;
  }

  private void write(SnapshotWriter out, WireWriter body, TableRows table) throws IOException {
    body.clear();
    body.string(table.schema()).string(table.name());
    names(body, table.indexes());
    names(body, table.constraints());
    out.record(TABLE, body);
    boolean more = table.rows().next();
    while (more) {
      body.clear();
      while (more && body.size() < BLOCK_BYTES) {
        Row row = table.rows().get();
        body.i64(row.getKey());
        for (Value value : row.getValueList()) {
          ValueCodec.write(body, value);
        }
        more = table.rows().next();
      }
      out.record(ROWS, body);
      requireNotCancelled();
    }
  }

  @Override
  public void close() {
    try {
      session.endStatement();
      session.rollback();
      session.close();
    } finally {
      gate.leave(reading);
    }
  }
}
