package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.HeldLocks;
import dev.tollgate.core.Session;
import dev.tollgate.core.StateRecord;
import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.FencingToken;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.PresentedToken;
import dev.tollgate.core.command.RandomSeed;
import dev.tollgate.core.command.SeriesEnd;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.StateChecksum;
import dev.tollgate.core.command.TableName;
import dev.tollgate.core.command.TransactionLimits;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.core.command.UserName;
import dev.tollgate.store.statement.LockAccess;
import dev.tollgate.value.StatementResult;
import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Four replicas apply the same random commands of many sessions: transactions with conflicts,
 * deadlocks, savepoints, definitions, failures, rollbacks and expiries. One of them answers queries
 * in between, inside open transactions too; one is replaced midway by a new one that applies the
 * log from its beginning, another again and again by one that reads a snapshot. Outcomes, steps and
 * contents have to be equal (I7).
 */
class EquivalenceTest {
  private static final int COMMANDS = Integer.getInteger("tollgate.commands", 3_000);
  private static final int COMMANDS_AT_NIGHT = 20_000;
  private static final long SEED = Long.getLong("tollgate.seed", System.nanoTime());
  private static final int SESSIONS = 8;

  private final Random random = new Random(SEED);
  private final List<Command> log = new ArrayList<>();
  private final List<Outcome> outcomes = new ArrayList<>();
  private final Map<Integer, Long> sequences = new HashMap<>();
  private final Map<String, Integer> seen = new HashMap<>();
  private long checkIndex;

  @Test
  void replicasStayEqual() throws Exception {
    requireEqual(COMMANDS);
  }

  @Tag("nightly")
  @Test
  void replicasStayEqualForLong() throws Exception {
    requireEqual(COMMANDS_AT_NIGHT);
  }

  private void requireEqual(int commands) throws Exception {
    System.out.println("tollgate.seed=" + SEED);
    LoggedReplica first = new LoggedReplica();
    LoggedReplica reading = new LoggedReplica();
    LoggedReplica restarted = new LoggedReplica();
    LoggedReplica restored = new LoggedReplica();
    int restores = 0;
    int checks = 0;
    int withOpenTransactions = 0;
    int withMarks = 0;
    try {
      for (int i = 0; i < SESSIONS; i++) {
        run(open(), first, reading, restarted, restored);
      }
      for (String sql : SCHEMA) {
        run(
            perform(0, statement(sql, TransactionScope.AUTOCOMMIT)),
            first,
            reading,
            restarted,
            restored);
      }
      run(perform(0, FENCE), first, reading, restarted, restored);
      for (int i = 0; i < commands; i++) {
        run(command(first), first, reading, restarted, restored);
        if (random.nextInt(4) == 0) {
          read(reading);
        }
        if (i == commands / 2) {
          restarted.close();
          restarted = new LoggedReplica();
          for (int k = 0; k < log.size(); k++) {
            assertEquals(outcomes.get(k), masked(restarted.apply(log.get(k))), "replayed " + k);
          }
        }
        if (random.nextInt(200) == 0) {
          endTransactions(first, reading, restarted, restored);
          LoggedReplica source = random.nextBoolean() ? first : restored;
          LoggedReplica next = source.restored();
          assertEquals(source.state(), next.state());
          restored.close();
          restored = next;
          restores++;
        }
        if (random.nextInt(40) == 0) {
          checks++;
          withOpenTransactions += first.machine.isCopyable() ? 0 : 1;
          Map<String, String> expected = checksums(first);
          for (LoggedReplica replica : List.of(reading, restarted, restored)) {
            assertEquals(expected, checksums(replica), "seed " + SEED + ", check " + checks);
          }
          String marks = answer(first, MARKED);
          assertEquals(answer(first, MADE), marks, "seed " + SEED + ", check " + checks);
          withMarks += marks.equals(NO_MARK) ? 0 : 1;
        }
        if (i % 500 == 0) {
          first.machine.checkInvariants();
          restored.machine.checkInvariants();
        }
      }
      endTransactions(first, reading, restarted, restored);
      String content = content(first);
      assertEquals(content, content(reading));
      assertEquals(content, content(restarted));
      assertEquals(content, content(restored));
      assertEquals(answer(first, MADE), answer(first, MARKED), "seed " + SEED);
      assertEquals(first.database.script(), reading.database.script());
      assertEquals(first.database.script(), restarted.database.script());
      assertEquals(first.database.script(), restored.database.script());
      assertTrue(restores > commands / 2_000, "the workload hardly has snapshots: " + restores);
      assertTrue(withOpenTransactions > checks / 2, "checks hardly meet open transactions");
      assertTrue(withMarks > 0, "no definition takes effect with its mark");
      System.out.println(log.size() + " commands: " + new TreeMap<>(seen));
      System.out.println(
          checks
              + " checks, "
              + withOpenTransactions
              + " with open transactions, "
              + withMarks
              + " with marks, "
              + restores
              + " restores");
    } finally {
      first.close();
      reading.close();
      restarted.close();
      restored.close();
    }
  }

  /** What a comparison of replicas compares, with transactions open or not. */
  private static Map<String, String> checksums(LoggedReplica replica) throws IOException {
    Map<String, String> checksums = replica.checksums();
    for (StateRecord piece : replica.machine.copyWithoutTransactions()) {
      StateRecord comparable =
          piece instanceof StateRecord.SessionState session && session.lastOutcome() != null
              ? session.withLastOutcome(masked(session.lastOutcome()))
              : piece;
      checksums.merge(piece.getClass().getSimpleName(), comparable.toString(), (a, b) -> a + b);
    }
    return checksums;
  }

  private void endTransactions(LoggedReplica... replicas) {
    for (int i = 0; i < SESSIONS; i++) {
      run(perform(i, new Operation.EndTransaction(true)), replicas);
    }
  }

  private void run(Command command, LoggedReplica... replicas) {
    Outcome expected = null;
    long steps = 0;
    for (LoggedReplica replica : replicas) {
      Outcome outcome = masked(replica.apply(command));
      if (expected == null) {
        expected = outcome;
        steps = replica.steps;
        log.add(command);
        outcomes.add(outcome);
        seen.merge(kind(outcome), 1, Integer::sum);
      } else {
        assertEquals(expected, outcome, () -> "seed " + SEED + ", command " + log.size() + command);
        long first = steps;
        assertEquals(
            first, replica.steps, () -> "seed " + SEED + ", steps of " + log.size() + command);
      }
    }
  }

  private static String kind(Outcome outcome) {
    return outcome instanceof Outcome.SqlFailed failed
        ? failed.sqlState()
        : outcome instanceof Outcome.Refused refused
            ? refused.code().name()
            : outcome.getClass().getSimpleName();
  }

  /** Error texts name indexes, which H2 names as it likes. */
  private static Outcome masked(Outcome outcome) {
    if (outcome instanceof Outcome.SqlFailed failed) {
      return new Outcome.SqlFailed(failed.sqlState(), failed.vendorCode(), "");
    }
    if (outcome instanceof Outcome.Batch batch) {
      return new Outcome.Batch(batch.outcomes().stream().map(EquivalenceTest::masked).toList());
    }
    return outcome;
  }

  private static final List<String> SCHEMA =
      List.of(
          "CREATE TABLE P(ID INT PRIMARY KEY, V INT, U INT UNIQUE, AT TIMESTAMP DEFAULT"
              + " CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, G UUID DEFAULT RANDOM_UUID())",
          "CREATE TABLE C(ID BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, P INT REFERENCES"
              + " P(ID) ON DELETE CASCADE, R DOUBLE DEFAULT RAND(), W INT CHECK (W < 90))",
          "CREATE TABLE O(ID INT PRIMARY KEY, V INT, P INT REFERENCES P(ID) ON DELETE CASCADE)",
          "CREATE TABLE N(K VARCHAR(5), V INT)",
          "CREATE TABLE M(ID INT PRIMARY KEY)");

  /** Indexes that were made together with a mark, and the marks. */
  private static final String MADE =
      "SELECT LISTAGG(ID, ' ') WITHIN GROUP (ORDER BY ID) FROM (SELECT CAST(SUBSTRING(INDEX_NAME"
          + " FROM 7) AS INT) AS ID FROM INFORMATION_SCHEMA.INDEXES WHERE INDEX_NAME LIKE"
          + " 'MARKED%')";

  private static final String NO_MARK = "[null]";

  private static final String MARKED = "SELECT LISTAGG(ID, ' ') WITHIN GROUP (ORDER BY ID) FROM M";

  /** Rows of O have the locks o-0 to o-4. */
  private static final Operation FENCE =
      new Operation.FenceTable(
          new TableName(null, "O"), new Operation.RowFence("'o-' || MOD(ID, 5)"), null, true);

  private Command open() {
    return new Command.OpenSession(
        new ClientInfo("app", "host", "p"), random.nextLong(), 60_000, 15_000);
  }

  private Command perform(int session, Operation operation) {
    long sequence = sequences.merge(session, 1L, Long::sum);
    return new Command.Perform(new SessionId(session + 1), sequence, operation);
  }

  private static Operation statement(String sql, TransactionScope mode) {
    return StoreDriver.inTransaction(sql, mode);
  }

  /** A definition and its mark, which take effect together; some fail, and some wait. */
  private Operation marked() {
    int id = random.nextInt(20);
    boolean creates = random.nextBoolean();
    String definition =
        creates
            ? "CREATE " + (random.nextBoolean() ? "UNIQUE " : "") + "INDEX MARKED" + id + " ON N(K)"
            : "DROP INDEX MARKED" + id;
    String mark = creates ? "INSERT INTO M VALUES(" + id + ")" : "DELETE FROM M WHERE ID = " + id;
    return new Operation.DefineMarked(
        List.of(partOfSeries(StoreDriver.inTransaction(mark, TransactionScope.READ_COMMITTED))),
        (Operation.ExecuteSql) statement(definition, TransactionScope.AUTOCOMMIT));
  }

  private static Operation.ExecuteSql partOfSeries(Operation.ExecuteSql one) {
    return new Operation.ExecuteSql(
        one.sql(),
        false,
        one.targets(),
        one.parameterSets(),
        /* batch= */ true,
        false,
        one.keys(),
        0,
        null,
        true,
        one.mode());
  }

  /** Changes of rows that are one operation. */
  private Operation series() {
    SeriesEnd end = SeriesEnd.of(random.nextInt(3));
    TransactionScope mode =
        end == SeriesEnd.COMMIT || random.nextBoolean()
            ? TransactionScope.READ_COMMITTED
            : TransactionScope.AUTOCOMMIT;
    List<Operation.ExecuteSql> statements = new ArrayList<>();
    for (int wanted = 1 + random.nextInt(4); statements.size() < wanted; ) {
      Operation.ExecuteSql one = StoreDriver.inTransaction(sql(), mode);
      if (!one.definition() && !one.returnsRows()) {
        statements.add(partOfSeries(one));
      }
    }
    return new Operation.ExecuteSeries(statements, end);
  }

  private Command command(LoggedReplica replica) {
    int session = random.nextInt(SESSIONS);
    SessionId id = new SessionId(session + 1);
    boolean waits = replica.machine.state().session(id).isBlocked();
    int dice = random.nextInt(100);
    if (random.nextInt(500) == 0) {
      return new Command.SeedRandom(new RandomSeed(random.nextLong(), random.nextLong()));
    }
    if (random.nextInt(500) == 0) {
      return new Command.LimitTransactions(
          new TransactionLimits(1_000 + random.nextInt(100_000), 1_000 + random.nextInt(10_000)));
    }
    if (random.nextInt(100) == 0) {
      checkIndex = log.size() + 1L;
      return new Command.VerifyReplicas(List.of("n1", "n2", "n3"));
    }
    if (random.nextInt(100) == 0) {
      return new Command.ReportChecksum(
          "n" + (1 + random.nextInt(3)),
          checkIndex,
          new StateChecksum(
              Integer.toString(random.nextInt(2)), new TreeMap<>(Map.of("locks", 1L))));
    }
    if (waits && dice < 80) {
      // a client sends nothing while it waits; the leader may end the wait
      return new Command.EndWait(
          id,
          sequences.get(session),
          random.nextBoolean() ? Command.WaitEnd.TIMED_OUT : Command.WaitEnd.CANCELLED);
    }
    if (dice < 5) {
      return perform(session, random.nextBoolean() ? marked() : series());
    }
    if (dice < 12) {
      return perform(session, new Operation.EndTransaction(true));
    }
    if (dice < 17) {
      return perform(session, new Operation.EndTransaction(false));
    }
    if (dice < 22) {
      return perform(
          session,
          new Operation.MarkSavepoint(
              random.nextBoolean(), "S" + random.nextInt(2), TransactionScope.READ_COMMITTED));
    }
    if (dice < 23) {
      var open = replica.machine.state().session(id).transaction();
      return new Command.AbortTransaction(
          id, open == null ? 1 : open.id(), Command.AbortReason.IDLE);
    }
    if (dice < 24) {
      return perform(session, setting(replica));
    }
    if (dice < 32) {
      LockName lock = new LockName("o-" + random.nextInt(5));
      return perform(
          session,
          random.nextInt(3) == 0
              ? new Operation.ReleaseLock(lock, null, 0)
              : new Operation.AcquireLock(lock, null, LockMode.EXCLUSIVE, 0));
    }
    int kind = random.nextInt(20);
    TransactionScope mode =
        kind == 0
            ? TransactionScope.SERIALIZABLE
            : kind < 6 ? TransactionScope.AUTOCOMMIT : TransactionScope.READ_COMMITTED;
    return perform(session, statement(sql(), mode));
  }

  /** Ends fences more often than it makes some, so that most sessions can write. */
  private Operation setting(LoggedReplica replica) {
    int kind = random.nextInt(6);
    if (kind < 2) {
      return new Operation.PresentToken(
          new LockName(random.nextBoolean() ? "\u0000" : "\ud83d\ude00"), random.nextLong());
    }
    LockName lock = new LockName("o-" + random.nextInt(5));
    FencingToken token = HeldLocks.lockToken(replica.machine.state(), lock);
    return new Operation.FenceSession(
        kind == 2 && token != null ? new PresentedToken(lock, token.value()) : null);
  }

  private int id() {
    return random.nextInt(12);
  }

  private String key() {
    return random.nextBoolean() ? "'k" + id() + "'" : RandomStatements.strangeText(random);
  }

  private String sql() {
    int n = random.nextInt(100);
    return switch (random.nextInt(25)) {
      case 0, 1, 2 -> "INSERT INTO P(ID, V, U) VALUES(" + id() + ", " + n + ", " + id() + ")";
      case 3, 4 -> "UPDATE P SET V = V + " + n + " WHERE ID = " + id();
      case 5 -> "UPDATE P SET U = " + id() + " WHERE ID = " + id();
      case 6 -> "UPDATE P SET V = V + 1 WHERE ID < " + id();
      case 7 -> "DELETE FROM P WHERE ID = " + id();
      case 8, 9 -> "INSERT INTO C(P, W) VALUES(" + id() + ", " + n + ")";
      case 10 -> "DELETE FROM C WHERE ID < (SELECT MAX(ID) - 20 FROM C)";
      case 11 -> "INSERT INTO C(P, W) SELECT ID, V FROM P WHERE ID < " + id() + " ORDER BY ID";
      case 12 -> "MERGE INTO P(ID, V) KEY(ID) VALUES(" + id() + ", " + n + ")";
      case 13 -> "SELECT * FROM P WHERE ID = " + id() + " FOR UPDATE";
      case 14 -> "SELECT * FROM P ORDER BY ID FOR UPDATE SKIP LOCKED";
      case 15 -> "SELECT * FROM P WHERE ID = " + id() + " FOR UPDATE NOWAIT";
      case 16 -> "INSERT INTO N VALUES(" + key() + ", " + n + "), (" + key() + ", RAND() * 10)";
      case 17 -> "UPDATE N SET V = V + 1 WHERE K = " + key();
      case 18, 19 -> "INSERT INTO O(ID, V, P) VALUES(" + id() + ", " + n + ", " + id() + ")";
      case 20 -> "UPDATE O SET V = " + n + " WHERE ID = " + id();
      case 21 -> "UPDATE O SET ID = " + id() + " WHERE ID = " + id();
      case 22 -> "DELETE FROM O WHERE ID = " + id();
      case 23 ->
          "MERGE INTO O USING P ON O.ID = P.ID AND P.ID < "
              + id()
              + " WHEN MATCHED THEN UPDATE SET V = P.V"
              + " WHEN NOT MATCHED AND P.ID = "
              + id()
              + " THEN INSERT(ID, V, P) VALUES(P.ID, P.V, P.ID)";
      default ->
          switch (random.nextInt(9)) {
            case 5 -> "ALTER TABLE O ADD COLUMN IF NOT EXISTS X UUID DEFAULT RANDOM_UUID()";
            case 6 -> "ALTER TABLE O DROP COLUMN IF EXISTS X";
            case 7 -> "TRUNCATE TABLE O";
            case 8 -> "ALTER TABLE O ADD CONSTRAINT IF NOT EXISTS SMALL CHECK (V < 98)";
            case 0 -> "CREATE INDEX IF NOT EXISTS IDX_N ON N(K)";
            case 1 -> "DROP INDEX IF EXISTS IDX_N";
            case 2 -> "ALTER TABLE N ADD COLUMN IF NOT EXISTS X UUID DEFAULT RANDOM_UUID()";
            case 3 -> "ALTER TABLE N DROP COLUMN IF EXISTS X";
            default -> "TRUNCATE TABLE N";
          };
    };
  }

  /** What a leader does beside the log. */
  private void read(LoggedReplica replica) throws SQLException {
    SessionId session = new SessionId(1 + random.nextInt(SESSIONS));
    String sql =
        random.nextBoolean()
            ? "SELECT COUNT(*), SUM(V), RAND() FROM P WHERE ID < " + id()
            : "SELECT * FROM P JOIN C ON C.P = P.ID JOIN N ON N.V = P.V";
    Session state = replica.machine.state().session(session);
    boolean open = state != null && state.transaction() != null;
    query(replica, open && random.nextBoolean() ? session : null, sql);
  }

  private static String answer(LoggedReplica replica, String sql) throws SQLException {
    SqlReader.Page page = query(replica, null, sql);
    assertNull(page.cursor(), "the page has all rows of " + sql);
    StatementResult rows = StatementResult.read(page.body().bytes(), null);
    return StoreDriver.text(((StatementResult.Rows) rows).rows()).toString();
  }

  private static SqlReader.Page query(
      LoggedReplica replica, @Nullable SessionId transaction, String sql) throws SQLException {
    return replica
        .database
        .reader()
        .query(
            transaction,
            new SqlReader.Settings("PUBLIC", 0, UserName.ANONYMOUS),
            sql,
            StoreDriver.encode().bytes(),
            0,
            0,
            1,
            LockAccess.NONE,
            new SqlReader.Canceller());
  }

  private static final List<String> CONTENT =
      List.of(
          "SELECT * FROM P ORDER BY ID",
          "SELECT * FROM C ORDER BY ID",
          "SELECT * FROM N",
          "SELECT * FROM O ORDER BY ID",
          "SELECT * FROM M ORDER BY ID",
          "SELECT SEQUENCE_NAME, BASE_VALUE FROM INFORMATION_SCHEMA.SEQUENCES",
          "SELECT TABLE_NAME, COLUMN_NAME, ORDINAL_POSITION FROM INFORMATION_SCHEMA.COLUMNS"
              + " WHERE TABLE_SCHEMA = 'PUBLIC' ORDER BY 1, 3");

  private static String content(LoggedReplica replica) throws SQLException {
    StringBuilder content = new StringBuilder();
    for (String sql : CONTENT) {
      content.append(answer(replica, sql)).append('\n');
    }
    return content.toString();
  }
}
