package dev.tollgate.store;

import dev.tollgate.snapshot.Checksums;
import dev.tollgate.snapshot.SnapshotWriter;
import dev.tollgate.value.ValueCodec;
import dev.tollgate.wire.WireWriter;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.BiConsumer;
import org.h2.constraint.Constraint;
import org.h2.engine.DbObject;
import org.h2.engine.SessionLocal;
import org.h2.index.Cursor;
import org.h2.index.Index;
import org.h2.result.Row;
import org.h2.schema.Schema;
import org.h2.schema.SchemaObject;
import org.h2.table.Table;
import org.h2.table.TableType;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/**
 * The database as it was committed at one moment, to be written, or to be compared with those of
 * other replicas, while it goes on changing: H2 keeps the rows of that moment for the cursors that
 * were opened then. A definition would take them away, so it waits, and if that takes long it ends
 * the copy.
 *
 * <p>Definitions are taken as H2 keeps them for its own restart, with the ids of the objects, so
 * that names which H2 gives, and the order of indexes and constraints, come back as they were.
 * Begun by the thread that applies the log; written by any one thread.
 */
public final class DatabaseCopy implements AutoCloseable {
  static final int DEFINITION = 32;
  static final int TABLE = 33;
  static final int ROWS = 34;
  static final int OBJECT_IDS = 35;
  static final int ROW_NUMBERS = 36;

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
  private final List<Definition> definitions;
  private final long[] objectIds;
  private final List<TableRows> tables = new ArrayList<>();

  /**
   * One object as H2 would make it again.
   *
   * @param comparable what has to be the same on every replica, or null
   */
  record Definition(int id, String sql, @Nullable String comparable) {}

  /** What a definition cancels if it has to wait too long. */
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
  }

  /**
   * Begins a copy.
   *
   * @param insistent if definitions wait until it is written, however long that takes
   */
  DatabaseCopy(H2Database database, ReaderGate gate, boolean insistent) {
    this.gate = gate;
    this.reading = new Reading(insistent);
    gate.enter(reading);
    session = database.openAdministration();
    // keeps large objects that are deleted meanwhile
    session.startStatementWithinTransaction(null);
    definitions = definitionsOf(database);
    objectIds = H2Internals.takenObjectIds(database.h2());
    for (Schema schema : database.h2().getAllSchemasNoMeta()) {
      for (Table table : schema.getAllTablesAndViews(session)) {
        if (table.getTableType() == TableType.TABLE && !table.isTemporary()) {
          tables.add(TableRows.of(table, session));
        }
      }
    }
  }

  /** All objects that clients have made, in the order in which H2 would make them at a restart. */
  static List<Definition> definitionsOf(H2Database database) {
    List<DbObject> objects = new ArrayList<>();
    objects.addAll(database.h2().getAllUsersAndRoles());
    objects.addAll(database.h2().getAllRights());
    objects.addAll(database.h2().getAllComments());
    for (Schema schema : database.h2().getAllSchemasNoMeta()) {
      objects.add(schema);
      List<SchemaObject> inSchema = schema.getAll(null);
      objects.addAll(inSchema);
    }
    objects.sort(Comparator.comparingInt(DatabaseCopy::phase).thenComparingInt(DbObject::getId));
    List<Definition> definitions = new ArrayList<>();
    for (DbObject object : objects) {
      String sql = object.getId() <= 0 || object.isTemporary() ? null : createSql(object);
      if (sql != null && !database.isBuiltIn(sql)) {
        definitions.add(new Definition(object.getId(), sql, comparableSql(object, sql)));
      }
    }
    return definitions;
  }

  /** H2 names the index of a constraint after tables that it makes and drops meanwhile. */
  private static @Nullable String comparableSql(DbObject object, String sql) {
    if (object instanceof Constraint constraint) {
      return constraint.getCreateSQLWithoutIndexes();
    }
    return object instanceof Index index && isOfConstraint(index) ? null : sql;
  }

  private static String comparableName(Index index) {
    return isOfConstraint(index)
        ? index.getIndexType().isUnique() + Arrays.toString(index.getColumns())
        : index.getName();
  }

  private static boolean isOfConstraint(Index index) {
    return index.getIndexType().getBelongsToConstraint();
  }

  /** For a sequence, the value that comes next; for its restart, H2 writes one further on. */
  private static String createSql(DbObject object) {
    return object.getType() == DbObject.SEQUENCE
        ? object.getCreateSQL()
        : object.getCreateSQLForMeta();
  }

  /**
   * Writes the copy, and can be called once.
   *
   * @throws InterruptedIOException if a definition did not want to wait: try again
   */
  public void writeTo(SnapshotWriter out) throws IOException {
    WireWriter body = new WireWriter(2 * BLOCK_BYTES);
    for (Definition definition : definitions) {
      body.clear();
      body.i32(definition.id()).string(definition.sql());
      out.record(DEFINITION, body);
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

  /**
   * Tells a checksum of the definitions and one of each table; can be called once, instead of
   * {@link #writeTo}. What may rightly differ is left out: keys of rows and ids of objects, because
   * a replica that was restored may have others where rows are gone, or where a later version of
   * Tollgate has objects of its own; and the names that H2 gives to indexes of constraints.
   *
   * @param parts gets the name of a part and its SHA-256
   * @throws InterruptedIOException if a definition did not want to wait
   */
  public void checksums(BiConsumer<String, byte[]> parts) throws InterruptedIOException {
    MessageDigest digest = Checksums.sha256();
    WireWriter body = new WireWriter(2 * BLOCK_BYTES);
    body.clear();
    definitions.stream()
        .map(Definition::comparable)
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

  private void requireNotCancelled() throws InterruptedIOException {
    if (reading.cancelled) {
      throw new InterruptedIOException("a definition waits for the copy");
    }
  }

  /** In the order in which H2 fills them, without that of the table itself, which is the first. */
  static List<Index> indexesOf(Table table) {
    List<Index> indexes = table.getIndexes();
    return indexes.subList(1, indexes.size());
  }

  /** In the order in which H2 asks them, without the guards of rows, which come with the fences. */
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

  private static int phase(DbObject object) {
    return switch (object.getType()) {
      case DbObject.USER -> 1;
      case DbObject.SCHEMA -> 2;
      case DbObject.FUNCTION_ALIAS -> 3;
      case DbObject.DOMAIN -> 4;
      case DbObject.SEQUENCE -> 5;
      case DbObject.CONSTANT -> 6;
      case DbObject.TABLE_OR_VIEW -> 7;
      case DbObject.INDEX -> 8;
      case DbObject.CONSTRAINT -> isKey((Constraint) object) ? 9 : 10;
      case DbObject.ROLE -> 11;
      case DbObject.RIGHT -> 12;
      default -> 13;
    };
  }

  /** Foreign keys need the keys to which they refer. */
  private static boolean isKey(Constraint constraint) {
    return constraint.getConstraintType() == Constraint.Type.PRIMARY_KEY
        || constraint.getConstraintType() == Constraint.Type.UNIQUE;
  }
}
