package dev.tollgate.simulation;

import dev.tollgate.store.h2.SqlValue;
import dev.tollgate.store.schema.LockArguments;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SeriesEnding;
import dev.tollgate.wire.TransactionMode;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a client asks for in one statement.
 *
 * @param lock the number of a lock, and of the table that it fences
 * @param lease 0 for the session's own
 * @param token that the statement shows, or 0
 * @param value what it writes
 * @param expected what has to be there for a compare-and-set
 */
record Op(Kind kind, int lock, long lease, long millis, long token, long value, long expected) {
  static final int LOCKS = 3;
  static final int REGISTERS = 2;
  static final String OWNER = "w\ud83d\ude00rker";

  /** Kinds of statements. */
  enum Kind {
    TRY_ACQUIRE,
    ACQUIRE,
    RELEASE,
    FORCE_RELEASE,
    CREATE_LEASE,
    REVOKE_LEASE,
    RENEW_LEASE,
    /** To a table that its lock fences, shown or not. */
    WRITE_FENCED,
    /** To a table without a fence, with a token in the statement. */
    WRITE_WITH_TOKEN,
    WRITE,
    COMPARE_AND_SET,
    READ,
    /** From now on every write of the session needs the token. */
    FENCE_SESSION,
    UNFENCE_SESSION,
    /** Two locks at once; which is named first depends on the value. */
    ACQUIRE_TWO,
    /** Releases a lock that nobody gets before some time has passed. */
    RELEASE_AND_KEEP,
    /** Hands a lock over from the session's own lease to another, or back; by the value. */
    TRANSFER,
    /** Gives a lock permits, changes their number, or takes them away; by the value. */
    DEFINE_LOCK,
    /** To a table that its lock fences, by a statement that takes the lock for itself. */
    WRITE_LOCKED,
    /** Takes a lock until the transaction ends, which it begins. */
    LOCK_IN_TRANSACTION,
    COMMIT,
    ROLLBACK,
    /** A definition that counts as a write to all registers without a fence. */
    DEFINE,
    /** Several writes together, of which one needs a token; each stands by itself. */
    SERIES,
    /** As a series; the write that needs a token comes first, and the next are for nothing. */
    SERIES_UNTIL_FAILURE,
    /** The same as a transaction, which is committed if no write fails. */
    SERIES_AND_COMMIT,
    /** A definition, and a write that needs a token and marks it: both, or neither. */
    DEFINE_MARKED,
    /** Of a lock, or of all locks whose names end as this one's, by the value. */
    GRANT_LOCK,
    REVOKE_LOCK,
    GRANT_FORCE,
    REVOKE_FORCE,
    /** Of the right to do with all locks and leases what administrators may. */
    GRANT_MANAGE,
    REVOKE_MANAGE,
    /** Of a right that the database has: to change all tables. */
    GRANT_UPDATE,
    REVOKE_UPDATE,
    CREATE_USER,
    DROP_USER,
    MAKE_ADMINISTRATOR,
    MAKE_ORDINARY,
    LIMIT_WORK,
    LOCK_USER,
    UNLOCK_USER,
    /** Of the time from which on the user may not log in, which depends on the lock. */
    EXPIRE_USER,
    KEEP_USER
  }

  /** The administrator that is always there. */
  static final String ROOT = "ROOT";

  /** Users that come and go. */
  static final List<String> USERS = List.of("ANN", "BOB");

  /** What it takes to set a database up. */
  static List<String> setUp() {
    List<String> all = new ArrayList<>();
    all.add("CREATE TABLE r(id INT PRIMARY KEY, v BIGINT, n BIGINT)");
    for (int i = 0; i < REGISTERS; i++) {
      all.add("INSERT INTO r VALUES(" + i + ", 0, 0)");
    }
    for (int i = 0; i < LOCKS; i++) {
      all.add("CREATE TABLE f" + i + "(v BIGINT, n BIGINT)");
      all.add("INSERT INTO f" + i + " VALUES(0, 0)");
      all.add("ALTER TABLE f" + i + " FENCED BY LOCK '" + lockName(i) + "'");
    }
    return all;
  }

  /**
   * What it takes beyond {@link #setUp} where there are users: both exist, all may read, and the
   * first may write and acquire every lock.
   */
  static List<String> setUpUsers() {
    List<String> all = new ArrayList<>();
    USERS.forEach(user -> all.add("CREATE USER " + user));
    all.add("GRANT SELECT ON SCHEMA PUBLIC TO PUBLIC");
    all.add("GRANT UPDATE ON SCHEMA PUBLIC TO " + USERS.get(0));
    for (int i = 0; i < LOCKS; i++) {
      all.add("GRANT LOCK ON '" + lockName(i) + "' TO " + USERS.get(0));
    }
    return all;
  }

  /** Every text that a client may send. */
  static List<String> everySql() {
    List<String> all = setUp();
    all.addAll(setUpUsers());
    for (Kind kind : Kind.values()) {
      for (int lock = 0; lock < LOCKS; lock++) {
        for (int bits = 0; bits < 4; bits++) {
          for (int value : List.of(bits % 3, bits + 1)) {
            Op op = new Op(kind, lock, bits & 1, 0, bits >> 1, value, 0);
            op.parts().forEach(part -> all.add(part.sql()));
          }
        }
      }
    }
    return all;
  }

  /** A query for all registers at once. */
  static String everyRegister() {
    StringBuilder sql = new StringBuilder("SELECT 'r' || ID, V, N FROM PUBLIC.R");
    for (int i = 0; i < LOCKS; i++) {
      sql.append(" UNION ALL SELECT 'f").append(i).append("', V, N FROM PUBLIC.F").append(i);
    }
    return sql.toString();
  }

  String lockName() {
    return lockName(lock);
  }

  /** With characters over which encoders stumble. */
  static String lockName(int lock) {
    return "l\ud83d\ude00\u0000" + lock;
  }

  /** The register that it writes or reads. */
  String register() {
    boolean fenced = kind == Kind.WRITE_FENCED || kind == Kind.WRITE_LOCKED;
    return fenced ? "f" + lock : "r" + lock % REGISTERS;
  }

  boolean isSeries() {
    return switch (kind) {
      case SERIES, SERIES_UNTIL_FAILURE, SERIES_AND_COMMIT, DEFINE_MARKED -> true;
      default -> false;
    };
  }

  /** How it ends, if it is a series. */
  SeriesEnding ending() {
    return switch (kind) {
      case SERIES_UNTIL_FAILURE -> SeriesEnding.STOP_AT_FAILURE;
      case SERIES_AND_COMMIT, DEFINE_MARKED -> SeriesEnding.COMMIT;
      default -> SeriesEnding.RUN_ALL;
    };
  }

  /** The statements of a series in order, else the statement itself. */
  List<Op> parts() {
    if (!isSeries()) {
      return List.of(this);
    }
    if (kind == Kind.DEFINE_MARKED) {
      return List.of(part(Kind.WRITE_FENCED, lock), part(Kind.DEFINE, lock));
    }
    boolean clause = token != 0 && isOdd();
    Op fenced = part(clause ? Kind.WRITE_WITH_TOKEN : Kind.WRITE_FENCED, lock);
    Op first = part(Kind.WRITE, lock);
    Op last = part(Kind.WRITE, lock + 1);
    return kind == Kind.SERIES ? List.of(first, fenced, last) : List.of(fenced, first, last);
  }

  private Op part(Kind partKind, int partLock) {
    return new Op(partKind, partLock, 0, 0, token, value, 0);
  }

  boolean goesThroughTheLog() {
    return kind != Kind.READ && kind != Kind.RENEW_LEASE;
  }

  boolean isWrite() {
    return switch (kind) {
      case WRITE_FENCED, WRITE_WITH_TOKEN, WRITE, COMPARE_AND_SET, WRITE_LOCKED -> true;
      case DEFINE, GRANT_UPDATE, REVOKE_UPDATE -> true;
      default -> false;
    };
  }

  boolean usesOwnLease() {
    return switch (kind) {
      case TRY_ACQUIRE, ACQUIRE, RELEASE, ACQUIRE_TWO -> lease == 0;
      case RELEASE_AND_KEEP, TRANSFER -> true;
      default -> false;
    };
  }

  /** The locks that it asks for together, in the order asked. */
  List<String> lockNames() {
    String other = lockName((lock + 1) % LOCKS);
    return isOdd() ? List.of(other, lockName()) : List.of(lockName(), other);
  }

  /** Whether it hands the lock to the session's own lease, and not from it. */
  boolean handsBack() {
    return isOdd();
  }

  TransactionMode transactionMode() {
    return switch (kind) {
      case LOCK_IN_TRANSACTION, COMMIT, ROLLBACK, SERIES_AND_COMMIT, DEFINE_MARKED ->
          TransactionMode.READ_COMMITTED;
      default -> TransactionMode.AUTOCOMMIT;
    };
  }

  private boolean isOdd() {
    return value % 2 != 0;
  }

  /** The user that it is about. */
  String user() {
    return USERS.get((int) (value % USERS.size()));
  }

  /** The locks that a right is about. */
  String pattern() {
    return value % 5 == 0 ? "%" + lock : lockName();
  }

  /** The time of the log from which on the user may not log in; some time in the run. */
  long expiryMicros() {
    return SimulatedNode.WALL_START_MICROS + 8_000_000L * (lock + 1);
  }

  private static Instant instant(long micros) {
    return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
  }

  /** How many permits it gives the lock; 0 to take its definition away. */
  int permits() {
    return (int) (value % 3);
  }

  String sql() {
    String stated = lease == 0 ? "" : ", ?";
    return switch (kind) {
      case TRY_ACQUIRE -> "SELECT try_acquire_lock(?" + stated + ")";
      case ACQUIRE -> "SELECT acquire_lock(?" + (lease == 0 ? "" : ", ?, ?") + ")";
      case RELEASE -> "SELECT release_lock(?" + stated + ")";
      case FORCE_RELEASE -> "SELECT force_release_lock(?)";
      case CREATE_LEASE -> "SELECT create_lease(?, ?)";
      case REVOKE_LEASE -> "SELECT revoke_lease(?)";
      case RENEW_LEASE -> "SELECT renew_lease(?)";
      case WRITE_FENCED ->
          "UPDATE f" + lock + " SET v = ?, n = n + 1" + (token == 0 ? "" : clause());
      case WRITE_WITH_TOKEN -> "UPDATE r SET v = ?, n = n + 1 WHERE id = ?" + clause();
      case WRITE -> "UPDATE r SET v = ?, n = n + 1 WHERE id = ?";
      case COMPARE_AND_SET -> "UPDATE r SET v = ?, n = n + 1 WHERE id = ? AND v = ?";
      case READ -> "SELECT v, n FROM r WHERE id = ?";
      case FENCE_SESSION -> "SET FENCED BY LOCK ? TOKEN ?";
      case UNFENCE_SESSION -> "SET NOT FENCED";
      case ACQUIRE_TWO -> "SELECT acquire_locks(ARRAY[?, ?]" + (lease == 0 ? "" : ", ?, ?") + ")";
      case RELEASE_AND_KEEP -> "SELECT release_lock(?, NULL, ?)";
      case TRANSFER ->
          handsBack() ? "SELECT transfer_lock(?, ?, NULL)" : "SELECT transfer_lock(?, NULL, ?)";
      case DEFINE_LOCK ->
          switch (permits()) {
            case 0 -> "DROP LOCK IF EXISTS ?";
            case 1 -> "CREATE LOCK IF NOT EXISTS ? PERMITS 2";
            default -> "ALTER LOCK IF EXISTS ? PERMITS 2";
          };
      case LOCK_IN_TRANSACTION -> "SELECT acquire_transaction_lock(?, ?)";
      case COMMIT -> "COMMIT";
      case ROLLBACK -> "ROLLBACK";
      case WRITE_LOCKED -> "UPDATE f" + lock + " SET v = ?, n = n + 1 LOCKED BY ?";
      case DEFINE -> "ALTER TABLE r ALTER COLUMN n SET DATA TYPE BIGINT USING n + 1";
      case GRANT_LOCK -> "GRANT LOCK ON ? TO " + user();
      case REVOKE_LOCK -> "REVOKE LOCK ON ? FROM " + user();
      case GRANT_FORCE -> "GRANT FORCE ON ? TO " + user();
      case REVOKE_FORCE -> "REVOKE FORCE ON ? FROM " + user();
      case GRANT_MANAGE -> "GRANT MANAGE ON LOCKS TO " + user();
      case REVOKE_MANAGE -> "REVOKE MANAGE ON LOCKS FROM " + user();
      case GRANT_UPDATE -> "GRANT UPDATE ON SCHEMA PUBLIC TO " + user();
      case REVOKE_UPDATE -> "REVOKE UPDATE ON SCHEMA PUBLIC FROM " + user();
      // without passwords, whose salts would not be of the seed
      case CREATE_USER -> "CREATE USER IF NOT EXISTS " + user();
      case DROP_USER -> "DROP USER IF EXISTS " + user();
      case MAKE_ADMINISTRATOR -> "ALTER USER " + user() + " ADMIN TRUE";
      case MAKE_ORDINARY -> "ALTER USER " + user() + " ADMIN FALSE";
      case LIMIT_WORK -> "ALTER USER " + user() + " WORK LIMIT " + (100 - lock);
      case LOCK_USER -> "ALTER USER " + user() + " ACCOUNT LOCK";
      case UNLOCK_USER -> "ALTER USER " + user() + " ACCOUNT UNLOCK";
      case EXPIRE_USER -> "ALTER USER " + user() + " VALID UNTIL '" + instant(expiryMicros()) + "'";
      case KEEP_USER -> "ALTER USER " + user() + " VALID UNTIL 'infinity'";
      case SERIES, SERIES_UNTIL_FAILURE, SERIES_AND_COMMIT, DEFINE_MARKED ->
          throw new IllegalStateException("a series has a text for each of its parts");
    };
  }

  private String clause() {
    return " FENCED BY LOCK '" + lockName() + "' TOKEN ?";
  }

  List<SqlValue> parameters() {
    SqlValue name = SqlValue.ofText(lockName());
    SqlValue id = SqlValue.ofNumber(lock % REGISTERS);
    SqlValue written = SqlValue.ofNumber(value);
    return switch (kind) {
      case TRY_ACQUIRE, RELEASE -> lease == 0 ? List.of(name) : List.of(name, number(lease));
      case ACQUIRE -> lease == 0 ? List.of(name) : List.of(name, number(lease), number(millis));
      case FORCE_RELEASE -> List.of(name);
      case CREATE_LEASE -> List.of(number(millis), SqlValue.ofText(OWNER));
      case REVOKE_LEASE, RENEW_LEASE -> List.of(number(lease));
      case WRITE_FENCED -> token == 0 ? List.of(written) : List.of(written, number(token));
      case WRITE_WITH_TOKEN -> List.of(written, id, number(token));
      case WRITE -> List.of(written, id);
      case COMPARE_AND_SET -> List.of(written, id, number(expected));
      case READ -> List.of(id);
      case FENCE_SESSION -> List.of(name, number(token));
      case UNFENCE_SESSION, DEFINE, COMMIT, ROLLBACK -> List.of();
      case LOCK_IN_TRANSACTION -> List.of(name, number(millis));
      case ACQUIRE_TWO -> {
        List<SqlValue> all = new ArrayList<>(lockNames().stream().map(SqlValue::ofText).toList());
        if (lease != 0) {
          all.add(number(lease));
          all.add(number(millis));
        }
        yield all;
      }
      case RELEASE_AND_KEEP -> List.of(name, number(millis));
      case TRANSFER -> List.of(name, number(lease));
      case DEFINE_LOCK -> List.of(name);
      case WRITE_LOCKED -> List.of(written, name);
      case GRANT_LOCK, REVOKE_LOCK, GRANT_FORCE, REVOKE_FORCE ->
          List.of(SqlValue.ofText(pattern()));
      case GRANT_MANAGE,
          REVOKE_MANAGE,
          GRANT_UPDATE,
          REVOKE_UPDATE,
          CREATE_USER,
          DROP_USER,
          MAKE_ADMINISTRATOR,
          MAKE_ORDINARY,
          LIMIT_WORK,
          LOCK_USER,
          UNLOCK_USER,
          EXPIRE_USER,
          KEEP_USER ->
          List.of();
      case SERIES, SERIES_UNTIL_FAILURE, SERIES_AND_COMMIT, DEFINE_MARKED -> List.of();
    };
  }

  private static SqlValue number(long number) {
    return SqlValue.ofNumber(number);
  }

  /** The first parameter of a statement. */
  static long firstNumber(Request.Execute execute) {
    return number(SqlValue.decode(execute.parameterSets().get(0)).get(0));
  }

  static long number(SqlValue value) {
    try {
      return LockArguments.token(value);
    } catch (SQLException e) {
      throw new IllegalArgumentException(e);
    }
  }

  /** What a client learned: the first column of the first row, or the update count. */
  record Answer(@Nullable String value, @Nullable String second, @Nullable String failure) {}
}
