package dev.tollgate.node;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A statement of a script, a moment of it, and what happens to its run at that moment.
 *
 * @param others whether another client defines something before the next run
 */
record MigrationCell(Kind kind, Moment moment, End end, boolean others) {
  MigrationCell {
    requireNonNull(kind, "kind");
    requireNonNull(moment, "moment");
    requireNonNull(end, "end");
  }

  /** A kind of statement; %1$s is the schema of the script. */
  enum Kind {
    ROWS("UPDATE t SET n = n + 1 WHERE id = 0", "SELECT n FROM %1$s.t"),
    ROWS_BY_THEMSELVES("UPDATE t SET n = n + 1 WHERE id = 0", "SELECT n FROM %1$s.t"),
    TABLE(
        "CREATE TABLE made(id INT REFERENCES t(id))",
        "SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = '%1$s' AND TABLE_NAME"
            + " = 'MADE'"),
    COLUMN(
        "ALTER TABLE t ADD COLUMN more INT",
        "SELECT COUNT(*) FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = '%1$s' AND"
            + " COLUMN_NAME = 'MORE'"),
    /** Its name is new each time, so it can be made twice. */
    INDEX(
        "CREATE INDEX ON t(n)",
        "SELECT COUNT(*) FROM INFORMATION_SCHEMA.INDEXES WHERE TABLE_SCHEMA = '%1$s' AND TABLE_NAME"
            + " = 'T' AND INDEX_TYPE_NAME <> 'PRIMARY KEY'"),
    /** The row of another client comes as soon as the table is empty, and has to stay. */
    TRUNCATE(
        "TRUNCATE TABLE t",
        "SELECT CASE WHEN COUNT(*) = (SELECT COUNT(*) FROM %1$s.seen) AND COALESCE(MIN(id), 1) > 0"
            + " THEN 1 END FROM %1$s.t"),
    RENAME(
        "ALTER TABLE t RENAME TO u",
        "SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = '%1$s' AND TABLE_NAME"
            + " = 'U'"),
    FENCE(
        "ALTER TABLE t FENCED BY LOCK 'mine'",
        "SELECT COUNT(*) FROM TOLLGATE.FENCES WHERE TABLE_SCHEMA = '%1$s' AND LOCK_NAME = 'mine'"),
    LOCK(
        "CREATE LOCK 'made-%1$s' PERMITS 2",
        "SELECT COUNT(*) FROM TOLLGATE.LOCK_DEFINITIONS WHERE LOCK_NAME = 'made-%1$s'"),
    /** The statement behind it needs the lock. */
    CALL("SELECT acquire_lock('call-%1$s')", "SELECT COUNT(*) FROM %1$s.under_lock"),
    /** The statement behind it needs the setting. */
    SETTING("SET SCHEMA other_%1$s", "SELECT COUNT(*) FROM other_%1$s.here");

    private static final Set<Kind> OF_TABLE =
        Set.of(ROWS, ROWS_BY_THEMSELVES, TABLE, COLUMN, INDEX, TRUNCATE, RENAME, FENCE);

    private final String sql;
    private final String once;

    Kind(String sql, String once) {
      this.sql = sql;
      this.once = once;
    }

    String sql(String schema) {
      return sql.formatted(schema);
    }

    /** The statement behind it. */
    String next(String schema) {
      return switch (this) {
        case CALL -> "INSERT INTO under_lock VALUES (1)";
        case SETTING -> "INSERT INTO here VALUES (1)";
        default -> "INSERT INTO " + schema + ".done VALUES (1)";
      };
    }

    /** A query whose answer is 1 if the statement has taken effect once. */
    String once(String schema) {
      return once.formatted(schema);
    }

    /** True if it waits for a transaction that has changed table t. */
    boolean isOfTable() {
      return OF_TABLE.contains(this);
    }
  }

  /** When something happens to the run. */
  enum Moment {
    SENT,
    /** The statement waits for the transaction of another client. */
    WAITS_FOR_ROWS,
    /**
     * The statement waits behind the fence that another client makes of its table, or for a lock
     * that another client holds.
     */
    WAITS_FOR_FENCE,
    /** The log has the statement, and no node has applied it. */
    RUNNING,
    /** The nodes have applied it, and the reply is on its way. */
    COMMITTED,
    ANSWERED,
    /** The transaction with the statement and its mark is committed, whatever they are. */
    MARKED;

    boolean isOf(Kind kind) {
      return switch (this) {
        case WAITS_FOR_ROWS -> kind.isOfTable();
        case WAITS_FOR_FENCE -> kind.isOfTable() || kind == Kind.CALL;
        default -> true;
      };
    }
  }

  /** What happens to the run. */
  enum End {
    KILL,
    /** Until its lease has expired, and the next run is over. */
    PAUSE,
    FORCE_RELEASE,
    LEADER_KILL,
    /** Of all nodes. */
    RESTART
  }

  static List<MigrationCell> of(Moment moment, End end, boolean others) {
    List<MigrationCell> cells = new ArrayList<>();
    for (Kind kind : Kind.values()) {
      if (moment.isOf(kind)) {
        cells.add(new MigrationCell(kind, moment, end, others));
      }
    }
    return cells;
  }
}
