package dev.tollgate.store.transfer;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.TableName;
import dev.tollgate.snapshot.UnknownVersionException;
import dev.tollgate.store.fence.FencedTables;
import dev.tollgate.store.h2.H2Database;
import dev.tollgate.store.h2.H2Numbers;
import dev.tollgate.store.h2.RowNumbers;
import dev.tollgate.store.h2.StoredDefinition;
import dev.tollgate.store.h2.StoredExpression;
import dev.tollgate.store.h2.StoredObject;
import dev.tollgate.store.h2.StoredView;
import dev.tollgate.store.limits.Views;
import dev.tollgate.store.schema.SystemSchema;
import dev.tollgate.value.ValueCodec;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.h2.constraint.Constraint;
import org.h2.engine.SessionLocal;
import org.h2.index.Index;
import org.h2.result.Row;
import org.h2.schema.Schema;
import org.h2.table.Column;
import org.h2.table.Table;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/**
 * Fills an empty database with what a {@link DatabaseCopy} wrote: definitions, which run once they
 * are complete, and then rows.
 */
public final class DatabaseRestore {
  private static final int ROWS_PER_COMMIT = 10_000;

  private static final byte[] NOTHING = {};

  private final H2Database database = SystemSchema.newDatabase();
  private final SessionLocal session = database.openAdministration();
  private final List<StoredDefinition> definitions = new ArrayList<>();

  /** The row numbers of tables, if the snapshot contains them. */
  private final Map<TableName, RowNumbers> numbers = new HashMap<>();

  /** The table whose rows come next; null before the first. */
  private @Nullable Table table;

  private int uncommitted;

  private final boolean keepsRows;
  private long rows;

  public DatabaseRestore() {
    this(/* keepsRows= */ true);
  }

  /**
   * @param keepsRows false for a trial, which decodes rows, compares them with what was written,
   *     and forgets them
   */
  public DatabaseRestore(boolean keepsRows) {
    this.keepsRows = keepsRows;
    session.setAutoCommit(false);
    // lets H2 read what it writes for its own restart
    session.setQuirksMode(true);
  }

  /** Takes the next record of the database. */
  public void accept(int kind, WireReader in) throws UnknownVersionException {
    switch (kind) {
      case DatabaseCopy.DEFINITION ->
          definitions.add(new StoredObject(in.i32(), in.string(), in.string(), "", null));
      case DatabaseCopy.VIEW -> definitions.add(view(in));
      case DatabaseCopy.EXPRESSION -> definitions.add(expression(in));
      case DatabaseCopy.ROW_NUMBERS ->
          numbers.put(new TableName(in.string(), in.string()), RowNumbers.read(in));
      case DatabaseCopy.OBJECT_IDS -> takeObjectIds(in);
      case DatabaseCopy.TABLE -> beginTable(in);
      case DatabaseCopy.ROWS -> addRows(in);
      default -> throw UnknownVersionException.ofRecord(kind);
    }
  }

  /** The database as far as it has been restored. */
  H2Database database() {
    return database;
  }

  SessionLocal session() {
    return session;
  }

  /** The table whose rows come next. */
  Table table() {
    return requireNonNull(table, "table");
  }

  /** How many rows were read so far. */
  public long rows() {
    return rows;
  }

  /** Ends the restore and returns the database. */
  public H2Database finish() {
    endTable();
    session.commit(false);
    session.close();
    return database;
  }

  /** Gives up the restore. */
  public void abandon() {
    database.close();
  }

  private void takeObjectIds(WireReader in) {
    define();
    long[] ids = new long[in.remaining() / Long.BYTES];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = in.i64();
    }
    H2Numbers.takeObjectIds(database.h2(), ids);
  }

  private void endTable() {
    Table filled = table;
    RowNumbers known = filled == null ? null : numbers.get(FencedTables.nameOf(filled));
    if (filled != null && known != null) {
      known.goOn(filled, session);
    }
  }

  private void beginTable(WireReader in) {
    endTable();
    Schema schema = database.h2().getSchema(in.string());
    String name = in.string();
    Table found = schema.getTableOrView(session, name);
    table = found;
    // H2 uses indexes and constraints in the order in which they were created
    List<Index> indexes = DatabaseCopy.indexesOf(found);
    indexes.sort(inOrder(indexes.size(), names(in), Index::getName));
    List<Constraint> constraints = DatabaseCopy.constraintsOf(found);
    constraints.sort(inOrder(constraints.size(), names(in), Constraint::getTraceSQL));
    constraints.forEach(found::removeConstraint);
    constraints.forEach(found::addConstraint);
  }

  private static List<String> names(WireReader in) {
    List<String> names = new ArrayList<>();
    for (int i = in.count(4); i > 0; i--) {
      names.add(in.string());
    }
    return names;
  }

  private static <T> Comparator<T> inOrder(
      int found, List<String> names, Function<T, String> name) {
    Map<String, Integer> places = new HashMap<>();
    for (String one : names) {
      places.put(one, places.size());
    }
    if (places.size() != found) {
      throw new IllegalStateException("a table came back with " + found + " of " + names);
    }
    return Comparator.comparing(object -> requireNonNull(places.get(name.apply(object)), "place"));
  }

  private void addRows(WireReader in) {
    Table target = requireNonNull(table, "table");
    byte[] written = keepsRows ? NOTHING : in.rest();
    WireReader records = keepsRows ? in : new WireReader(written);
    WireWriter again = new WireWriter();
    Column[] columns = target.getColumns();
    while (records.remaining() > 0) {
      long key = records.i64();
      Value[] values = new Value[columns.length];
      for (int i = 0; i < values.length; i++) {
        values[i] = ValueCodec.readStored(records, columns[i].getType(), session);
      }
      rows++;
      if (!keepsRows) {
        again.i64(key);
        for (Value value : values) {
          ValueCodec.write(again, value);
        }
        continue;
      }
      Row row = target.createRow(values, Row.MEMORY_CALCULATE);
      row.setKey(key);
      RowNumbers.add(target, row, session);
      if (++uncommitted == ROWS_PER_COMMIT) {
        session.commit(false);
        uncommitted = 0;
      }
    }
    if (!Arrays.equals(written, 0, written.length, again.array(), 0, again.size())) {
      throw new IllegalStateException(
          "the snapshot cannot be restored: a row of table "
              + FencedTables.nameOf(target)
              + " comes back with other values than it was written with");
    }
  }

  private static StoredView view(WireReader in) {
    return new StoredView(
        in.i32(),
        in.string(),
        in.string(),
        in.flag() ? names(in) : null,
        in.flag() ? in.string() : null,
        in.string(),
        "");
  }

  private static StoredExpression expression(WireReader in) {
    return new StoredExpression(
        StoredExpression.Kind.of(in.u8()),
        in.string(),
        in.string(),
        in.flag() ? in.string() : null,
        in.string());
  }

  /**
   * Makes the definitions in the order of the snapshot, in which each comes after all that it
   * needs.
   */
  private void define() {
    Set<Integer> ids = new HashSet<>();
    for (StoredDefinition definition : definitions) {
      if (H2Numbers.reserveObjectId(database.h2(), definition.id())) {
        ids.add(definition.id());
      }
    }
    Placeholders placeholders = new Placeholders();
    boolean views = false;
    for (StoredDefinition definition : definitions) {
      if (definition instanceof StoredView) {
        views = true;
      } else if (views) {
        // what comes next may read any view
        Views.compile(session);
        views = false;
      }
      if (definition instanceof StoredObject) {
        placeholders.put();
      }
      make(definition, ids.contains(definition.id()) ? definition.id() : 0);
    }
    definitions.clear();
    placeholders.remove();
    session.commit(false);
    Views.compile(session);
  }

  private void make(StoredDefinition definition, int id) {
    try {
      definition.make(session, id);
    } catch (RuntimeException e) {
      throw new IllegalStateException(
          "the snapshot cannot be restored: its "
              + definition.name()
              + " cannot be made again, because "
              + e.getMessage(),
          e);
    }
  }

  /** Rows that make H2 keep the indexes of tables apart from the rows, as in the original. */
  private final class Placeholders {
    private final Set<TableName> missing = new HashSet<>();
    private final Map<Table, Row> rows = new HashMap<>();

    Placeholders() {
      numbers.forEach(
          (name, known) -> {
            if (!known.keyed()) {
              missing.add(name);
            }
          });
    }

    /** Puts a row into each of these tables that has been created since. */
    void put() {
      for (TableName name : List.copyOf(missing)) {
        Table made = FencedTables.find(session, name);
        if (made != null) {
          rows.put(made, RowNumbers.occupy(made, session));
          missing.remove(name);
        }
      }
    }

    void remove() {
      rows.forEach((made, row) -> made.removeRow(session, row));
    }
  }
}
