package dev.tollgate.store;

import dev.tollgate.core.command.FenceId;
import dev.tollgate.core.command.LogPosition;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.RandomSeed;
import dev.tollgate.core.command.RowKey;
import dev.tollgate.h2.Meter;
import dev.tollgate.store.fence.RowGuards;
import dev.tollgate.store.h2.H2Clock;
import dev.tollgate.store.h2.H2Database;
import dev.tollgate.store.h2.H2Definitions;
import dev.tollgate.store.h2.H2Fields;
import dev.tollgate.store.h2.H2Functions;
import dev.tollgate.store.h2.H2Numbers;
import dev.tollgate.store.h2.H2Sessions;
import dev.tollgate.store.h2.H2Statements;
import dev.tollgate.store.h2.H2Transactions;
import dev.tollgate.store.h2.H2Windows;
import dev.tollgate.store.h2.Pins;
import dev.tollgate.store.limits.ScanMeters;
import dev.tollgate.store.schema.SystemSchema;
import dev.tollgate.store.statement.LockAccess;
import dev.tollgate.store.statement.StatementMeter;
import dev.tollgate.store.statement.StoreCommand;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.h2.api.ErrorCode;
import org.h2.command.Prepared;
import org.h2.engine.Constants;
import org.h2.engine.SessionLocal;
import org.h2.message.DbException;
import org.h2.result.ResultInterface;
import org.h2.table.Table;
import org.h2.value.Value;

/**
 * Checks, once per process, that H2 behaves as the classes around {@link H2Fields} need it. Another
 * version on the class path must be detected at startup, not when replicas differ.
 */
final class H2SelfCheck {
  private static final int LONG_WAIT_MILLIS = 60_000;

  private static final Pins PINS =
      new Pins(
          RandomSeed.NONE,
          new LogPosition(1, 0, 981_173_106_000_000L),
          /* timeMicros= */ 981_173_106_000_000L,
          0,
          0);

  private final H2Database database;
  private final SessionLocal first;
  private final SessionLocal second;

  private H2SelfCheck(H2Database database) {
    this.database = database;
    first = database.openSession();
    second = database.openSession();
    first.setAutoCommit(false);
    second.setAutoCommit(false);
  }

  /** Runs the checks when the class is first used; a second use costs nothing. */
  private static final class Once {
    static final boolean DONE = check();

    private Once() {}
  }

  /**
   * @throws IllegalStateException naming what does not hold
   */
  static void run() {
    requireBuiltFor(versionInUse());
    if (!Once.DONE) {
      throw new IllegalStateException("the check of H2 did not run");
    }
  }

  /** Reads the field by reflection: the compiler would copy the constant. */
  private static String versionInUse() {
    try {
      String version = String.valueOf(Constants.class.getField("VERSION").get(null));
      boolean rewritten =
          Stream.of(Constants.class.getFields())
              .anyMatch(field -> field.getName().equals("REWRITTEN"));
      return rewritten ? version : version + " as H2's authors built it";
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("H2 does not name its version", e);
    }
  }

  /** Comes first: a method that another version lacks would cause a NoSuchMethodError. */
  static void requireBuiltFor(String found) {
    if (!found.equals(H2Fields.BUILT_FOR)) {
      throw new IllegalStateException(
          "the class path has H2 "
              + found
              + ", and dev.tollgate:tollgate-replica works with H2 "
              + H2Fields.BUILT_FOR
              + " as dev.tollgate:tollgate-h2 alone; depend on dev.tollgate:tollgate-embedded,"
              + " which brings its own H2 under another name");
    }
  }

  private static boolean check() {
    try (H2Database database = SystemSchema.newDatabase()) {
      loadAll();
      H2SelfCheck check = new H2SelfCheck(database);
      check.timeAndRandomArePinned();
      check.conflictFailsAtOnce();
      check.holderOfARowIsFound();
      check.failedStatementIsForgotten();
      check.conflictIsNotTriedAgain();
      check.scansOfSubqueriesAreFound();
      check.stepsThroughTextsAreCounted();
      check.guardsAreAskedOnEveryRoute();
      check.idleDefinitionsAreTold();
      return true;
    }
  }

  /**
   * Loads each class, which fails if a field of H2 has moved. Some classes are otherwise needed
   * only when a snapshot is written.
   */
  private static void loadAll() {
    for (Class<?> reaching :
        List.of(
            H2Clock.class,
            H2Definitions.class,
            H2Functions.class,
            H2Numbers.class,
            H2Sessions.class,
            H2Statements.class,
            H2Transactions.class,
            H2Windows.class)) {
      try {
        MethodHandles.lookup().ensureInitialized(reaching);
      } catch (IllegalAccessException e) {
        throw new IllegalStateException(reaching + " is hidden", e);
      }
    }
  }

  private void timeAndRandomArePinned() {
    update(
        first,
        "CREATE TABLE T(ID INT PRIMARY KEY, V INT, AT TIMESTAMP DEFAULT LOCALTIMESTAMP,"
            + " U UUID DEFAULT RANDOM_UUID(), R DOUBLE DEFAULT RAND())");
    List<String> seen = new ArrayList<>();
    for (int id = 1; id <= 2; id++) {
      update(first, "INSERT INTO T(ID, V) VALUES(" + id + ", 0)");
      first.commit(false);
      seen.add(query("SELECT AT, U, R FROM T WHERE ID = " + id));
    }
    require(seen.get(0).equals(seen.get(1)), "equal pins give equal rows");
    require(seen.get(0).startsWith("2001-02-03 04:05:06"), "the time is pinned");
    update(first, "ALTER TABLE T ADD COLUMN B TIMESTAMP DEFAULT LOCALTIMESTAMP");
    require(
        query("SELECT B FROM T WHERE ID = 1").startsWith("2001-02-03 04:05:06"),
        "the time is pinned for rows that a definition fills");
  }

  /** H2 would wait for far longer than a machine that is short of processors takes to fail. */
  private void conflictFailsAtOnce() {
    update(first, "UPDATE T SET V = 1 WHERE ID = 1");
    int usual = second.getLockTimeout();
    second.setLockTimeout(LONG_WAIT_MILLIS);
    long start = System.nanoTime();
    int code = failureOf(second, "UPDATE T SET V = 2 WHERE ID = 1");
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
    second.setLockTimeout(usual);
    require(code == ErrorCode.LOCK_TIMEOUT_1, "a locked row is a conflict, not error " + code);
    require(millis < LONG_WAIT_MILLIS / 2, "a conflict fails at once, not after " + millis + " ms");
    rollback();
  }

  private void holderOfARowIsFound() {
    update(first, "UPDATE T SET V = 1 WHERE ID = 1");
    RowKey row = null;
    try {
      update(second, "UPDATE T SET V = 2 WHERE ID = 1");
    } catch (DbException e) {
      row = H2Transactions.contestedRow(e);
    }
    if (row == null) {
      require(false, "a conflict names its row");
      return;
    }
    int holder = H2Transactions.holderOf(database.h2(), row);
    require(holder == first.getTransaction().getId(), "it is told who holds a row");
    rollback();
    holder = H2Transactions.holderOf(database.h2(), row);
    require(holder == H2Transactions.NO_TRANSACTION, "it is told that nobody holds a row any more");
  }

  private void failedStatementIsForgotten() {
    update(first, "UPDATE T SET V = 1 WHERE ID = 1");
    int code = failureOf(first, "INSERT INTO T(ID) VALUES(1)");
    require(code == ErrorCode.DUPLICATE_KEY_1, "a duplicate key is refused");
    require(!H2Transactions.hasRolledBack(first), "a failed statement leaves no mark");
    // with the mark, this statement would never end
    code = failureOf(second, "UPDATE T SET V = 2 WHERE ID = 1");
    require(code == ErrorCode.LOCK_TIMEOUT_1, "a row of a transaction that failed is a conflict");
    rollback();
  }

  private void conflictIsNotTriedAgain() {
    update(first, "INSERT INTO T(ID) VALUES(4)");
    int code = failureOf(second, "INSERT INTO T(ID) VALUES(3), (4)");
    require(
        code == ErrorCode.LOCK_TIMEOUT_1 || code == ErrorCode.CONCURRENT_UPDATE_1,
        "a conflicting insert is a conflict, not error " + code);
    rollback();
  }

  private void scansOfSubqueriesAreFound() {
    String sql =
        "SELECT (SELECT MAX(A.V) FROM T AS A WHERE A.V >= B.ID - 9)"
            + " FROM (SELECT ID FROM T WHERE V >= 0) AS B";
    AtomicLong looked = new AtomicLong();
    StatementMeter rowByRow = rows -> looked.addAndGet(rows == 1 ? 1 : 0);
    Prepared prepared = first.prepare(sql);
    ScanMeters.attach(first, prepared);
    new StoreCommand(first, sql, prepared, LockAccess.NONE, rowByRow)
        .executeQuery(0, 0, false)
        .close();
    // two rows for the statement, two for its derived table, and two for each of two subquery runs
    require(looked.get() == 8, "the scans of subqueries are found, not only " + looked + " rows");
    rollback();
  }

  /** Evaluated as a regular expression, the LIKE pattern would fail and take no steps. */
  private void stepsThroughTextsAreCounted() {
    for (String condition :
        List.of(
            "REPEAT('a', 600 + ID) LIKE '%a(%'",
            "REPEAT('a', 600 + ID) REGEXP 'ab'",
            "REGEXP_LIKE(REPEAT('a', 600 + ID), 'ab')",
            "LOCATE('ab', REPEAT('a', 600 + ID)) > 0",
            "TOLLGATE.REPLACE(REPEAT('a', 600 + ID), 'ab') = 'x'")) {
      String sql = "SELECT ID FROM T WHERE ID > 0 AND " + condition;
      StoreCommand command = command(first, sql);
      long before = Meter.steps();
      command.executeQuery(0, 0, false).close();
      long steps = Meter.steps() - before;
      require(steps >= 2 * 576, "the steps are counted that are taken by " + condition);
    }
    rollback();
  }

  private void guardsAreAskedOnEveryRoute() {
    update(first, "CREATE TABLE G(ID INT PRIMARY KEY, T INT REFERENCES T(ID) ON DELETE CASCADE)");
    update(first, "INSERT INTO G VALUES(1, 1)");
    first.commit(false);
    Table guarded = first.getDatabase().getMainSchema().getTableOrView(first, "G");
    new RowGuards(database).guard(new FenceId(1), guarded, new Operation.RowFence("'g-' || ID"));
    for (String sql :
        List.of(
            "INSERT INTO G VALUES(2, NULL)",
            "UPDATE G SET T = NULL",
            "DELETE FROM G",
            "DELETE FROM T WHERE ID = 1")) {
      // the guard asks LockAccess.NONE, which throws when it is asked about a row
      int code = failureOf(first, sql);
      require(code == ErrorCode.GENERAL_ERROR_1, "the guard of a table is asked: " + sql);
    }
    rollback();
  }

  private void idleDefinitionsAreTold() {
    String before = "ALTER TABLE G ADD COLUMN IF NOT EXISTS ";
    String column = "ALTER TABLE G ALTER COLUMN IF EXISTS ";
    Map<String, Boolean> definitions =
        Map.of(
            "CREATE TABLE IF NOT EXISTS G(ID INT)",
            true,
            "CREATE TABLE IF NOT EXISTS NEW_TABLE(ID INT)",
            false,
            "CREATE INDEX IF NOT EXISTS NEW_INDEX ON G(T)",
            false,
            "CREATE SCHEMA IF NOT EXISTS PUBLIC",
            true,
            column + "NEW_COLUMN SET NOT NULL",
            true,
            column + "T SET DEFAULT 5",
            false,
            before + "T INT",
            true,
            before + "NEW_COLUMN INT",
            false,
            "ALTER TABLE G ADD CONSTRAINT IF NOT EXISTS NEW_ONE CHECK (ID > 0)",
            false,
            "ALTER TABLE G DROP CONSTRAINT IF EXISTS NEW_ONE",
            true);
    definitions.forEach(
        (sql, idle) ->
            require(
                H2Definitions.changesNothing(first, first.prepare(sql)) == idle,
                "it is known whether a definition changes something: " + sql));
  }

  private void rollback() {
    first.rollback();
    second.rollback();
  }

  private void update(SessionLocal session, String sql) {
    database.pinning().begin(session, PINS);
    H2Transactions.failAtOnceOnConflict(session);
    try {
      command(session, sql).executeUpdate(null);
    } finally {
      H2Transactions.forgetRollback(session);
      database.pinning().end(session);
    }
  }

  private int failureOf(SessionLocal session, String sql) {
    try {
      update(session, sql);
      return 0;
    } catch (DbException e) {
      return e.getErrorCode();
    }
  }

  private String query(String sql) {
    try (ResultInterface result = command(first, sql).executeQuery(0, 0, false)) {
      result.next();
      StringBuilder row = new StringBuilder();
      for (Value value : result.currentRow()) {
        row.append(value.getString()).append(' ');
      }
      return row.toString();
    }
  }

  private static StoreCommand command(SessionLocal session, String sql) {
    return new StoreCommand(
        session, sql, session.prepare(sql), LockAccess.NONE, StatementMeter.NONE);
  }

  private static void require(boolean holds, String what) {
    if (!holds) {
      throw new IllegalStateException(
          "H2 "
              + Constants.FULL_VERSION
              + " does not behave as "
              + H2Fields.BUILT_FOR
              + " does: "
              + what);
    }
  }
}
