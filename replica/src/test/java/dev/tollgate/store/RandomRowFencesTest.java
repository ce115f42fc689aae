package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.Hold;
import dev.tollgate.core.Lease;
import dev.tollgate.core.Lock;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TableName;
import dev.tollgate.core.command.TransactionScope;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Random statements and transactions of several sessions, on all routes into a table with a lock
 * for each row. Whatever a command has changed in the table, its session must have held the locks
 * of those rows, of what they were and of what they are (I3).
 */
class RandomRowFencesTest {
  private static final int COMMANDS = Integer.getInteger("tollgate.commands", 4_000);
  private static final long SEED = Long.getLong("tollgate.seed", System.nanoTime());
  private static final int LOCKS = 2;

  private final Random random = new Random(SEED);

  /** Sessions whose last statement was a definition, which may have to wait. */
  private final Set<SessionId> defining = new HashSet<>();

  private int changes;
  private int refusals;

  @Test
  void nobodyChangesARowWithoutItsLock() throws SQLException {
    System.out.println("tollgate.seed=" + SEED);
    try (StoreDriver replica = new StoreDriver()) {
      List<SessionId> sessions = List.of(replica.open(), replica.open(), replica.open());
      SessionId first = sessions.get(0);
      replica.ok(first, "CREATE TABLE P(ID INT PRIMARY KEY, V INT)");
      replica.ok(first, "INSERT INTO P SELECT X, X FROM SYSTEM_RANGE(0, 7)");
      replica.ok(
          first,
          "CREATE TABLE O(ID INT PRIMARY KEY, V INT, P INT REFERENCES P(ID) ON DELETE CASCADE ON"
              + " UPDATE CASCADE)");
      replica.perform(
          first,
          new Operation.FenceTable(
              new TableName(null, "O"),
              new Operation.RowFence("'o-' || MOD(ID, " + LOCKS + ")"),
              null,
              true));
      for (int i = 0; i < COMMANDS; i++) {
        step(replica, sessions);
      }
    }
    System.out.println(changes + " changes, " + refusals + " refusals");
    assertTrue(changes > COMMANDS / 80, changes + " changes");
    assertTrue(refusals > COMMANDS / 20, refusals + " refusals");
  }

  private void step(StoreDriver replica, List<SessionId> sessions) throws SQLException {
    SessionId session = sessions.get(random.nextInt(sessions.size()));
    List<SessionId> waiting =
        sessions.stream().filter(id -> replica.machine.state().session(id).isBlocked()).toList();
    boolean definitionWaits = waiting.stream().anyMatch(defining::contains);
    Map<Integer, String> before = rows(replica);
    boolean definition = random.nextInt(40) == 0;
    if (definition) {
      defining.add(session);
    } else {
      defining.remove(session);
    }
    Operation operation = definition ? definition() : operation();
    Outcome outcome = replica.perform(session, operation);
    if (outcome instanceof Outcome.Refused) {
      refusals++;
    }
    Map<Integer, String> after = rows(replica);
    TreeSet<Integer> ids = new TreeSet<>(before.keySet());
    ids.addAll(after.keySet());
    for (int id : ids) {
      if (!String.valueOf(before.get(id)).equals(after.get(id))) {
        changes++;
        checkLock(
            replica, session, operation, id, definition || definitionWaits, !waiting.isEmpty());
      }
    }
  }

  private static void checkLock(
      StoreDriver replica,
      SessionId session,
      Operation operation,
      int id,
      boolean definition,
      boolean othersWait) {
    Lock lock = replica.machine.state().lock(new LockName("o-" + id % LOCKS));
    String what = "seed " + SEED + ", row " + id + ", " + operation;
    if (lock == null) {
      assertTrue(definition, what);
      return;
    }
    Lease own = replica.machine.state().session(session).ownLease();
    Hold hold = lock.holds().iterator().next();
    assertTrue(lock.mode() == LockMode.EXCLUSIVE, what);
    assertTrue(othersWait || hold.lease() == own, what);
  }

  private static Map<Integer, String> rows(StoreDriver replica) throws SQLException {
    Map<Integer, String> rows = new TreeMap<>();
    for (String row : replica.query("SELECT ID, V, P FROM O")) {
      rows.put(Integer.parseInt(row.substring(0, row.indexOf(','))), row);
    }
    return rows;
  }

  private Operation operation() {
    int dice = random.nextInt(100);
    LockName lock = new LockName("o-" + random.nextInt(LOCKS));
    if (dice < 20) {
      LockMode mode = random.nextInt(8) == 0 ? LockMode.SHARED : LockMode.EXCLUSIVE;
      return new Operation.AcquireLock(lock, null, mode, 0);
    }
    if (dice < 24) {
      return new Operation.ReleaseLock(lock, null, 0);
    }
    if (dice < 26) {
      return new Operation.ForceReleaseLock(lock);
    }
    if (dice < 44) {
      return new Operation.EndTransaction(random.nextInt(4) != 0);
    }
    return StoreDriver.inTransaction(
        sql(),
        random.nextInt(5) != 0 ? TransactionScope.AUTOCOMMIT : TransactionScope.READ_COMMITTED);
  }

  private static Operation autocommit(String sql) {
    return StoreDriver.inTransaction(sql, TransactionScope.AUTOCOMMIT);
  }

  private Operation definition() {
    List<Operation> definitions = new ArrayList<>();
    definitions.add(autocommit("TRUNCATE TABLE O"));
    definitions.add(autocommit("ALTER TABLE O ADD COLUMN IF NOT EXISTS X INT DEFAULT 3"));
    definitions.add(autocommit("ALTER TABLE O DROP COLUMN IF EXISTS X"));
    definitions.add(autocommit("ALTER TABLE O ALTER COLUMN ID BIGINT"));
    definitions.add(autocommit("CREATE INDEX IF NOT EXISTS O_V ON O(V)"));
    return definitions.get(random.nextInt(definitions.size()));
  }

  private int id() {
    return random.nextInt(8);
  }

  private String sql() {
    int n = random.nextInt(50);
    return switch (random.nextInt(20)) {
      case 0, 1, 16, 17 -> "INSERT INTO O(ID, V, P) VALUES(" + id() + ", " + n + ", " + id() + ")";
      case 2 -> "INSERT INTO O(ID, V) SELECT ID, V FROM P WHERE ID = " + id();
      case 3, 13, 14, 15 -> "UPDATE O SET V = " + n + " WHERE ID = " + id();
      case 4 -> "UPDATE O SET V = V + 1";
      case 5 -> "UPDATE O SET ID = " + id() + " WHERE ID = " + id();
      case 6 -> "DELETE FROM O WHERE ID = " + id();
      case 7 -> "MERGE INTO O(ID, V) KEY(ID) VALUES(" + id() + ", " + n + ")";
      case 8 ->
          "MERGE INTO O USING P ON O.ID = P.ID WHEN MATCHED AND P.ID < 4 THEN DELETE"
              + " WHEN MATCHED THEN UPDATE SET V = "
              + n;
      case 9 -> "SELECT ID FROM FINAL TABLE (UPDATE O SET V = " + n + " WHERE ID > " + id() + ")";
      case 10 -> "DELETE FROM P WHERE ID = " + id();
      case 11 -> "UPDATE P SET ID = " + id() + " WHERE ID = " + id();
      default -> "MERGE INTO P(ID, V) KEY(ID) VALUES(" + id() + ", " + n + ")";
    };
  }
}
