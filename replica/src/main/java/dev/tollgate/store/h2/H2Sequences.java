package dev.tollgate.store.h2;

import java.lang.invoke.VarHandle;
import org.h2.schema.Sequence;
import org.h2.util.HasSQL;
import org.h2.value.TypeInfo;
import org.h2.value.Value;

/** Writes sequences down, and makes them, with all of their state. */
public final class H2Sequences {
  private static final VarHandle CYCLE =
      H2Fields.field(Sequence.class, "cycle", Sequence.Cycle.class);

  private H2Sequences() {}

  /**
   * SQL with the next value and all options. H2 leaves out bounds that it takes for standard ones,
   * and what it takes for standard depends on the next value. H2 also leaves out the next value of
   * a sequence that is exhausted, from which the sequence goes on if it is made to cycle.
   */
  public static String createSql(Sequence sequence) {
    String sql = create(sequence, options(sequence, /* goesOn= */ true));
    return sequence.getBelongsToTable() ? sql + " BELONGS_TO_TABLE" : sql;
  }

  /** SQL that a client can send, with all but the next value of a sequence that is exhausted. */
  public static String createSqlForClients(Sequence sequence) {
    return create(sequence, optionsForClients(sequence));
  }

  /** What {@link #createSqlForClients} says after the type. */
  public static String optionsForClients(Sequence sequence) {
    boolean exhausted = isExhausted(sequence);
    return options(sequence, !exhausted) + (exhausted ? " EXHAUSTED" : "");
  }

  private static String create(Sequence sequence, String options) {
    TypeInfo type = sequence.getDataType();
    StringBuilder sql = new StringBuilder("CREATE SEQUENCE ");
    sequence.getSQL(sql, HasSQL.DEFAULT_SQL_FLAGS);
    if (type.getValueType() != Value.BIGINT) {
      type.getSQL(sql.append(" AS "), HasSQL.DEFAULT_SQL_FLAGS);
    }
    return sql.append(' ').append(options).toString();
  }

  private static String options(Sequence sequence, boolean goesOn) {
    StringBuilder sql = new StringBuilder("START WITH ").append(sequence.getStartValue());
    if (goesOn) {
      sql.append(" RESTART WITH ").append(sequence.getBaseValue());
    }
    sql.append(" INCREMENT BY ").append(sequence.getIncrement());
    sql.append(" MINVALUE ").append(sequence.getMinValue());
    sql.append(" MAXVALUE ").append(sequence.getMaxValue());
    sql.append(sequence.getCycle() == Sequence.Cycle.CYCLE ? " CYCLE" : "");
    if (sequence.getCacheSize() > 0) { // H2 computes a negative one for the largest ranges
      sql.append(" CACHE ").append(sequence.getCacheSize());
    }
    return sql.toString();
  }

  /** True if a sequence has given its last value. */
  public static boolean isExhausted(Sequence sequence) {
    return sequence.getCycle() == Sequence.Cycle.EXHAUSTED;
  }

  /** Makes a sequence give no value any more. H2 itself would change the next value, too. */
  static void exhaust(Sequence sequence) {
    CYCLE.set(sequence, Sequence.Cycle.EXHAUSTED);
  }
}
