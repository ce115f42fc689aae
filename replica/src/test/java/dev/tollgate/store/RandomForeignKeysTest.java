package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TransactionScope;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Random transactions of several sessions on tables that refer to each other, with actions, keys of
 * two columns, keys that are equal without being the same, and rows that refer to their own table.
 * No row may ever be committed that refers to nothing, and sessions whose keys never meet may never
 * wait for each other.
 */
class RandomForeignKeysTest {
  private static final int COMMANDS = Integer.getInteger("tollgate.commands", 4_000);
  private static final long SEED = Long.getLong("tollgate.seed", System.nanoTime());
  private static final int SESSIONS = 5;

  private static final List<String> TABLES =
      List.of(
          "CREATE TABLE P(ID INT PRIMARY KEY, S VARCHAR_IGNORECASE(20) UNIQUE, V INT)",
          "CREATE TABLE PP(A INT, B INT, V INT, PRIMARY KEY(A, B))",
          "CREATE TABLE C(ID INT PRIMARY KEY, P INT REFERENCES P(ID), S VARCHAR_IGNORECASE(20)"
              + " REFERENCES P(S), V INT)",
          "CREATE TABLE D(ID INT PRIMARY KEY, P INT UNIQUE REFERENCES P(ID) ON DELETE CASCADE ON"
              + " UPDATE CASCADE, X BIGINT, Y INT, V INT, FOREIGN KEY(X, Y) REFERENCES PP(A, B) ON"
              + " DELETE SET NULL)",
          "CREATE TABLE E(ID INT PRIMARY KEY, D INT REFERENCES D(ID) ON DELETE CASCADE, DP INT"
              + " REFERENCES D(P), UP INT REFERENCES E(ID), V INT)");

  /** Rows that refer to nothing. */
  private static final String ORPHANS =
      "SELECT 'C.P', ID FROM C WHERE P IS NOT NULL AND P NOT IN (SELECT ID FROM P)"
          + " UNION ALL SELECT 'C.S', ID FROM C WHERE S IS NOT NULL AND NOT EXISTS (SELECT 1 FROM P"
          + " WHERE P.S = C.S)"
          + " UNION ALL SELECT 'D.P', ID FROM D WHERE P IS NOT NULL AND P NOT IN (SELECT ID FROM P)"
          + " UNION ALL SELECT 'D.X', ID FROM D WHERE X IS NOT NULL AND Y IS NOT NULL AND NOT EXISTS"
          + " (SELECT 1 FROM PP WHERE A = X AND B = Y)"
          + " UNION ALL SELECT 'E.D', ID FROM E WHERE D IS NOT NULL AND D NOT IN (SELECT ID FROM D)"
          + " UNION ALL SELECT 'E.DP', ID FROM E WHERE DP IS NOT NULL AND NOT EXISTS (SELECT 1 FROM D"
          + " WHERE P = DP)"
          + " UNION ALL SELECT 'E.UP', ID FROM E WHERE UP IS NOT NULL AND UP NOT IN (SELECT ID FROM"
          + " E)";

  private final Random random = new Random(SEED);
  private final Map<String, Integer> seen = new TreeMap<>();

  /** The keys of the session that acts are these numbers, and multiples of the step apart. */
  private int firstKey;

  private int keyStep = 1;

  @Test
  void noRowRefersToNothing() throws SQLException {
    System.out.println("tollgate.seed=" + SEED);
    try (StoreDriver replica = new StoreDriver()) {
      List<SessionId> sessions = create(replica);
      for (int i = 0; i < COMMANDS; i++) {
        step(replica, sessions.get(random.nextInt(SESSIONS)));
        if (i % 4 == 3) {
          assertEquals(List.of(), replica.query(ORPHANS), "after command " + i);
        }
      }
    }
    System.out.println(seen);
    for (String outcome : List.of("Executed", "Waiting", "23503", "23506")) {
      assertTrue(seen.getOrDefault(outcome, 0) > COMMANDS / 200, outcome + " of " + seen);
    }
  }

  @Test
  void keysThatNeverMeetNeverWait() throws SQLException {
    System.out.println("tollgate.seed=" + SEED);
    keyStep = SESSIONS;
    try (StoreDriver replica = new StoreDriver()) {
      List<SessionId> sessions = create(replica);
      for (int i = 0; i < COMMANDS; i++) {
        firstKey = random.nextInt(SESSIONS);
        String sql = step(replica, sessions.get(firstKey));
        assertEquals(0, seen.getOrDefault("Waiting", 0), sql);
      }
    }
    System.out.println(seen);
    assertTrue(seen.get("Executed") > COMMANDS / 3, seen.toString());
  }

  private static List<SessionId> create(StoreDriver replica) {
    List<SessionId> sessions = new ArrayList<>();
    for (int i = 0; i < SESSIONS; i++) {
      sessions.add(replica.open());
    }
    TABLES.forEach(table -> replica.ok(sessions.get(0), table));
    return sessions;
  }

  /** Has a session do something, or learn of the end of its last statement, which had to wait. */
  private String step(StoreDriver replica, SessionId session) {
    if (replica.machine.state().session(session).isBlocked()) {
      return "";
    }
    boolean open = replica.machine.state().session(session).transaction() != null;
    int kind = random.nextInt(20);
    if (open && kind < 4) {
      count(kind == 0 ? replica.rollback(session) : replica.commit(session));
      return kind == 0 ? "ROLLBACK" : "COMMIT";
    }
    if (open && kind < 7) {
      boolean back = random.nextBoolean();
      count(
          replica.perform(
              session,
              new Operation.MarkSavepoint(
                  back, "S" + random.nextInt(2), TransactionScope.READ_COMMITTED)));
      return "SAVEPOINT";
    }
    String sql = change();
    Outcome outcome = kind < 11 ? replica.run(session, sql) : replica.in(session, sql);
    count(outcome);
    return sql;
  }

  private void count(Outcome outcome) {
    String name =
        outcome instanceof Outcome.SqlFailed failed
            ? failed.sqlState()
            : outcome.getClass().getSimpleName();
    seen.merge(name, 1, Integer::sum);
  }

  private String change() {
    String v = ", " + random.nextInt(100) + ")";
    return switch (random.nextInt(25)) {
      case 0, 1 -> "MERGE INTO P KEY(ID) VALUES(" + sameTwice() + v;
      case 2 -> "MERGE INTO PP KEY(A, B) VALUES(" + id() + ", " + id() + v;
      case 3, 4 -> "MERGE INTO C KEY(ID) VALUES(" + id() + ", " + idOrNull() + ", " + text() + v;
      case 5, 6 -> "MERGE INTO D KEY(ID) VALUES(" + twiceId() + ", " + id() + ", " + idOrNull() + v;
      case 7, 8 ->
          "MERGE INTO E KEY(ID) VALUES("
              + id()
              + ", "
              + idOrNull()
              + ", "
              + idOrNull()
              + ", "
              + idOrNull()
              + v;
      case 9, 10 -> "DELETE FROM P WHERE ID = " + id();
      case 11 -> "DELETE FROM PP WHERE A = " + id();
      case 12 -> "DELETE FROM C WHERE ID = " + id();
      case 13 -> "DELETE FROM D WHERE ID = " + id();
      case 14 -> "DELETE FROM E WHERE ID = " + id();
      case 15 -> "UPDATE C SET P = " + id() + " WHERE ID = " + id();
      case 16 -> "UPDATE C SET P = P, S = UPPER(S), V = V + 1 WHERE ID = " + id();
      case 17 -> "UPDATE P SET S = " + text() + " WHERE ID = " + id();
      case 18 -> "UPDATE P SET S = NULL, V = 1 WHERE ID = " + id();
      case 19 -> "UPDATE P SET ID = ID, S = UPPER(S), V = V + 1 WHERE ID = " + id();
      case 20 -> "UPDATE E SET UP = " + idOrNull() + ", DP = NULL WHERE ID = " + id();
      case 21 -> "UPDATE D SET X = " + id() + ", Y = " + id() + " WHERE ID = " + id();
      case 22 -> "DELETE FROM C WHERE P = " + id();
      case 23 -> "UPDATE P SET ID = " + id() + " WHERE ID = " + id();
      default -> "DELETE FROM E WHERE UP = " + id() + " OR D = " + id();
    };
  }

  private int id() {
    return firstKey + keyStep * random.nextInt(6);
  }

  private String idOrNull() {
    return random.nextInt(4) == 0 ? "NULL" : Integer.toString(id());
  }

  private String text() {
    return random.nextInt(4) == 0 ? "NULL" : text(id());
  }

  private String text(int id) {
    return random.nextBoolean() ? "'k" + id + "'" : "'K" + id + "'";
  }

  /** A number and its text: no two rows have one text. */
  private String sameTwice() {
    int id = id();
    return id + ", " + text(id);
  }

  /** A number twice: no two rows have the second one. */
  private String twiceId() {
    int id = id();
    return id + ", " + id;
  }
}
