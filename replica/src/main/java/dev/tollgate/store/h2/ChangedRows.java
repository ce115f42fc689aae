package dev.tollgate.store.h2;

import dev.tollgate.core.command.Mixing;
import dev.tollgate.core.command.Operation;
import dev.tollgate.value.ValueCodec;
import dev.tollgate.wire.WireWriter;
import java.math.BigDecimal;
import java.util.Collection;
import java.util.List;
import org.h2.constraint.Constraint;
import org.h2.constraint.ConstraintDomain;
import org.h2.engine.Database;
import org.h2.engine.SessionLocal;
import org.h2.index.Cursor;
import org.h2.index.Index;
import org.h2.result.Row;
import org.h2.schema.Domain;
import org.h2.schema.Schema;
import org.h2.schema.Sequence;
import org.h2.table.Column;
import org.h2.table.Table;
import org.h2.table.TableType;
import org.h2.value.Value;
import org.h2.value.ValueDate;
import org.h2.value.ValueInteger;
import org.h2.value.ValueTimestamp;
import org.h2.value.ValueUuid;
import org.h2.value.ValueVarchar;
import org.jspecify.annotations.Nullable;

/**
 * The digest of what the statements of the log change: rows with their numbers and values,
 * sequences, and definitions. The only place that sees changed rows for the digest of the replicas
 * (ADR 0096).
 *
 * <p>H2 asks the constraints of a table about each row that it has changed, on all routes: FINAL
 * TABLE and the actions of foreign keys too. So each table has a hidden constraint. The rows of a
 * statement are added up, so their order does not matter. The rows of a statement that fails do not
 * count, and neither do changes outside statements of the log.
 *
 * <p>Belongs to the apply thread.
 */
public final class ChangedRows {
  // odd, so that no two numbers become one, and without a pattern
  private static final long FACTOR = 0x9E37_79B9_7F4A_7C15L;
  private static final long BEFORE = 0xA076_1D64_78BD_642FL;
  private static final long AFTER = 0xE703_7ED1_A0B4_28DBL;
  private static final long TYPE = 0x8EBC_6AF0_9C88_C6E3L;

  /** Stands for the number of a row that is not there, and for its values. */
  private static final long NO_ROW = -1;

  /** Decimal digits that a double keeps. */
  private static final int DOUBLE_DIGITS = 15;

  /** A larger buffer is not kept. */
  private static final int OTHER_BYTES = 1 << 20;

  private final Database database;
  private final Schema hidden;

  private WireWriter other = new WireWriter(64);
  private int made;
  private boolean running;
  private long rows;
  private long changes;

  /** Creates a digest without changes for the tables that there are. */
  public ChangedRows(H2Database database) {
    this.database = database.h2();
    hidden = HiddenConstraint.hiddenSchema(this.database, "DIGEST");
    for (Table table : unwatched(Touched.everything(database))) {
      watch(table);
    }
  }

  /** Returns the digest of what has changed since the last call; 0 if nothing has. */
  public long take() {
    long taken = changes;
    changes = 0;
    return taken;
  }

  /** A statement of the log begins. */
  public void begin() {
    rows = 0;
    running = true;
  }

  /**
   * The statement has ended.
   *
   * @param kept false if it has changed no row and no definition
   */
  public void end(boolean kept) {
    if (kept && rows != 0) {
      changes = Mixing.mix(changes, rows);
    }
    running = false;
  }

  /**
   * Records where sequences stand that a statement may have used, also one that failed.
   *
   * @param named sequences that the statement names, in any order
   * @param written tables that may get values from sequences, in any order
   */
  public void used(Collection<Sequence> named, Collection<Table> written) {
    long sum = 0;
    for (Sequence sequence : named) {
      sum += digest(sequence);
    }
    for (Table table : written) {
      for (Column column : table.getColumns()) {
        Sequence sequence = column.getSequence();
        if (sequence != null) {
          sum += digest(sequence);
        }
      }
    }
    if (sum != 0) {
      changes = Mixing.mix(changes, sum);
    }
  }

  private static long digest(Sequence sequence) {
    long state = Mixing.mix(sequence.getName().hashCode(), sequence.getBaseValue());
    return H2Sequences.isExhausted(sequence) ? Mixing.mix(state, 1) : state;
  }

  /**
   * Records what a definition has made: its targets, and the tables that it has made or copied with
   * their rows; no query may run meanwhile.
   *
   * @param touched what the definition has touched
   */
  public void defined(
      Collection<Operation.DefinitionTarget> targets, Touched touched, SessionLocal session) {
    for (Operation.DefinitionTarget target : targets) {
      String named = target.name().schema();
      Schema schema = database.findSchema(named == null ? session.getCurrentSchemaName() : named);
      if (schema != null) {
        add(schema, target.name().name(), session);
      }
    }
    for (Table table : unwatched(touched)) {
      add(table);
      Cursor all = table.getScanIndex(session).find(session, null, null, false);
      long sum = 0;
      while (all.next()) {
        sum += digest(table, null, all.get());
      }
      changes = Mixing.mix(changes, sum);
      watch(table);
    }
  }

  private void add(Schema schema, String name, SessionLocal session) {
    Table table = schema.findTableOrView(session, name);
    if (table != null) {
      add(table);
    }
    Domain domain = schema.findDomain(name);
    if (domain != null) {
      add(domain.getCreateSQL());
      List<ConstraintDomain> rules = domain.getConstraints();
      if (rules != null) {
        rules.forEach(rule -> add(rule.getCreateSQL()));
      }
    }
    Sequence sequence = schema.findSequence(name);
    if (sequence != null) {
      used(List.of(sequence), List.of());
    }
  }

  private void add(Table table) {
    add(table.getCreateSQLForMeta());
    used(List.of(), List.of(table));
    Iterable<Constraint> constraints = table.getConstraints();
    if (constraints != null) {
      for (Constraint constraint : constraints) {
        if (!(constraint instanceof HiddenConstraint)) {
          add(constraint.getCreateSQLWithoutIndexes());
        }
      }
    }
    List<Index> indexes = table.getIndexes();
    if (indexes != null) {
      for (Index index : indexes) {
        // H2 names the index of a constraint after tables that it makes and drops meanwhile
        if (!StoredObject.isOfConstraint(index)) {
          add(index.getCreateSQL());
        }
      }
    }
  }

  private void add(@Nullable String sql) {
    if (sql != null) {
      changes = Mixing.mix(changes, sql);
    }
  }

  /** H2 makes a table anew to change its columns. */
  private static List<Table> unwatched(Touched touched) {
    return touched.tables().stream()
        .filter(table -> table.getTableType() == TableType.TABLE && !isWatched(table))
        .toList();
  }

  private static boolean isWatched(Table table) {
    for (Constraint constraint : table.getConstraints()) {
      if (constraint instanceof Watch) {
        return true;
      }
    }
    return false;
  }

  private void watch(Table table) {
    made++;
    Watch watch = new Watch("DIGEST_" + made, table);
    hidden.add(watch);
    table.addConstraint(watch);
  }

  private final class Watch extends HiddenConstraint {
    Watch(String name, Table table) {
      super(hidden, name, table);
    }

    @Override
    protected Place place() {
      return Place.DIGEST;
    }

    /** Only then the row has its number. */
    @Override
    public boolean isBefore() {
      return false;
    }

    @Override
    public void checkRow(
        SessionLocal session, Table changed, @Nullable Row before, @Nullable Row after) {
      if (!running) {
        return;
      }
      rows += digest(changed, before, after);
    }
  }

  /** Takes a multiplication for each value, and mixes once. */
  @SuppressWarnings("ReferenceEquality") // saves work alone
  private long digest(Table table, @Nullable Row before, @Nullable Row after) {
    Value[] old = before == null ? null : before.getValueList();
    Value[] now = after == null ? null : after.getValueList();
    // names count by their hash codes, which are the same in every JVM and known already
    long digest = table.getSchema().getName().hashCode() * FACTOR + table.getName().hashCode();
    digest = digest * FACTOR + (before == null ? NO_ROW : before.getKey());
    digest = digest * FACTOR + (after == null ? NO_ROW : after.getKey());
    int columns = Math.max(old == null ? 0 : old.length, now == null ? 0 : now.length);
    for (int i = 0; i < columns; i++) {
      Value was = old == null ? null : old[i];
      Value is = now == null ? null : now[i];
      long first = was == null ? NO_ROW : digest(was);
      // most values of an updated row are the objects that they were
      long second = is == was ? first : is == null ? NO_ROW : digest(is);
      digest = digest * FACTOR + (first * BEFORE + second * AFTER);
    }
    return Mixing.mix(columns, digest);
  }

  private long digest(Value value) {
    if (value instanceof ValueInteger number) {
      return typed(Value.INTEGER, number.getInt());
    }
    if (value instanceof ValueVarchar text) {
      return typed(Value.VARCHAR, text(text.getString()));
    }
    int type = value.getValueType();
    long number =
        switch (type) {
          case Value.NULL -> 0;
          case Value.TINYINT, Value.SMALLINT, Value.INTEGER, Value.BIGINT -> value.getLong();
          case Value.BOOLEAN -> value.getBoolean() ? 1 : 0;
          case Value.DOUBLE -> Double.doubleToLongBits(value.getDouble());
          case Value.NUMERIC -> number(value);
          case Value.DATE -> ((ValueDate) value).getDateValue();
          case Value.TIMESTAMP ->
              ((ValueTimestamp) value).getDateValue() * FACTOR
                  + ((ValueTimestamp) value).getTimeNanos();
          case Value.CHAR, Value.VARCHAR, Value.VARCHAR_IGNORECASE -> text(value.getString());
          case Value.UUID -> ((ValueUuid) value).getHigh() * FACTOR + ((ValueUuid) value).getLow();
          default -> bytes(value);
        };
    return typed(type, number);
  }

  private static long typed(int type, long value) {
    return type * TYPE + value;
  }

  /** A text keeps its hash code, so most texts of a row that is changed are not read again. */
  private static long text(String text) {
    return (long) text.length() << 32 ^ text.hashCode();
  }

  /** A double has all digits of a short number, and is had without an allocation. */
  private long number(Value value) {
    BigDecimal number = value.getBigDecimal();
    int scale = number.scale();
    boolean isShort = number.precision() <= DOUBLE_DIGITS && scale >= 0 && scale <= DOUBLE_DIGITS;
    return isShort ? scale * FACTOR + Double.doubleToLongBits(number.doubleValue()) : bytes(value);
  }

  private long bytes(Value value) {
    other.clear();
    ValueCodec.write(other, value);
    long mixed = Mixing.mix(0, other.array(), other.size());
    if (other.size() > OTHER_BYTES) {
      other = new WireWriter(64);
    }
    return mixed;
  }
}
