package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Limits;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Roles and rights are noted, equally on all replicas, and neither open nor close anything to
 * clients.
 */
class RolesTest {
  private static final int STATEMENTS = 5_000;

  private static final List<String> RIGHTS =
      List.of("SELECT", "INSERT", "UPDATE, DELETE", "ALL", "ALL PRIVILEGES", "SELECT, SELECT");
  private static final List<String> OBJECTS =
      List.of("T", "TABLE U", "V", "T, U", "APP.T", "NOPE", "SCHEMA PUBLIC", "SCHEMA APP", "DUAL");
  private static final List<String> ROLES = List.of("A", "B", "C", "PUBLIC", "NOPE");
  private static final List<String> OTHERS =
      List.of(
          "CREATE TABLE T(A INT)",
          "CREATE TABLE U(A INT)",
          "CREATE VIEW V AS SELECT A FROM T",
          "CREATE TABLE APP.T(A INT)",
          "CREATE SCHEMA APP",
          "CREATE SCHEMA IF NOT EXISTS APP AUTHORIZATION B",
          "INSERT INTO T VALUES(1)",
          "DROP TABLE T CASCADE",
          "DROP TABLE U",
          "DROP SCHEMA APP CASCADE",
          // not T: a view of it is broken here at once, and in H2 when it is used (ADR 0035)
          "ALTER TABLE U RENAME TO X",
          "ALTER TABLE X RENAME TO U");

  private final StoreDriver first = new StoreDriver();
  private final StoreDriver second = new StoreDriver();

  @AfterEach
  void close() {
    first.close();
    second.close();
  }

  @Test
  void replicasAndH2AgreeOnRandomStatements() throws SQLException {
    long seed = Long.getLong("tollgate.seed", System.nanoTime());
    System.out.println("RolesTest: -Dtollgate.seed=" + seed);
    Random random = new Random(seed);
    Planned one = new Planned(first);
    Planned two = new Planned(second);
    Map<String, Integer> outcomes = new TreeMap<>();
    try (Connection h2 = DriverManager.getConnection("jdbc:h2:mem:");
        Statement administrator = h2.createStatement()) {
      for (int i = 0; i < STATEMENTS; i++) {
        String sql = next(random);
        String outcome = one.run(sql);
        assertEquals(outcome, two.run(sql), sql);
        assertEquals(outcome(administrator, sql), outcome, sql);
        outcomes.merge(outcome, 1, Integer::sum);
        if (i % 500 == 0) {
          assertEquals(first.database.script(), second.database.script());
        }
      }
    }
    System.out.println("RolesTest: " + outcomes);
    assertEquals(first.database.script(), second.database.script());
    assertTrue(outcomes.get(Planned.OK) > STATEMENTS / 4, outcomes.toString());
  }

  private static String outcome(Statement statement, String sql) {
    try {
      statement.execute(sql);
      return Planned.OK;
    } catch (SQLException e) {
      return e.getSQLState();
    }
  }

  private static String next(Random random) {
    String role = pick(random, ROLES);
    String rights = pick(random, RIGHTS);
    String on = " ON " + pick(random, OBJECTS);
    return switch (random.nextInt(10)) {
      case 0 -> "CREATE ROLE " + role;
      case 1 -> "CREATE ROLE IF NOT EXISTS " + role;
      case 2 -> "DROP ROLE " + (random.nextBoolean() ? "IF EXISTS " : "") + role;
      case 3, 4 -> "GRANT " + rights + on + " TO " + role;
      case 5 -> "REVOKE " + rights + on + " FROM " + role;
      case 6 -> "GRANT " + pick(random, ROLES) + " TO " + role;
      case 7 -> "REVOKE " + pick(random, ROLES) + " FROM " + role;
      default -> pick(random, OTHERS);
    };
  }

  private static String pick(Random random, List<String> choices) {
    return choices.get(random.nextInt(choices.size()));
  }

  /** Of 40 levels of two roles, H2 looked for a circle on 2^40 ways. */
  @Test
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void rolesThatDoubleEnd() {
    Planned planned = new Planned(first);
    String refused = "54001";
    String outcome = Planned.OK;
    int level = 0;
    for (String role : List.of("A0", "B0")) {
      planned.run("CREATE ROLE " + role);
    }
    while (outcome.equals(Planned.OK) && level < 40) {
      level++;
      for (String to : List.of("A", "B")) {
        assertEquals(Planned.OK, planned.run("CREATE ROLE " + to + level));
        for (String role : List.of("A", "B")) {
          outcome = planned.run("GRANT " + role + (level - 1) + " TO " + to + level);
        }
      }
    }
    assertEquals(refused, outcome);
    assertEquals(13, level);
    // and neither from above, nor in a circle
    assertEquals(Planned.OK, planned.run("CREATE ROLE TOP"));
    assertEquals(Planned.OK, planned.run("GRANT A12 TO TOP"));
    assertEquals("90074", planned.run("GRANT TOP TO A1"));
    assertEquals(Planned.OK, planned.run("REVOKE A12 FROM TOP"));
  }

  @Test
  void domainsThatNarrowOneAnotherEnd() {
    Planned planned = new Planned(first);
    assertEquals(Planned.OK, planned.run("CREATE DOMAIN D1 AS INT CHECK (VALUE > 0)"));
    for (int i = 2; i <= Limits.DOMAIN_DEPTH; i++) {
      assertEquals(
          Planned.OK,
          planned.run("CREATE DOMAIN D" + i + " AS D" + (i - 1) + " CHECK (VALUE > 0)"));
    }
    assertEquals("54001", planned.run("CREATE DOMAIN TOO_DEEP AS D" + Limits.DOMAIN_DEPTH));
    assertEquals(Planned.OK, planned.run("CREATE TABLE T(A D" + Limits.DOMAIN_DEPTH + ")"));
    assertEquals(Planned.OK, planned.run("INSERT INTO T VALUES(1)"));
    assertEquals("23513", planned.run("INSERT INTO T VALUES(-1)"));
  }

  @Test
  void scriptShowsWhatWasGranted() {
    Planned planned = new Planned(first);
    for (String sql :
        List.of(
            "CREATE TABLE T(A INT)",
            "CREATE ROLE READER",
            "CREATE ROLE WRITER",
            "GRANT SELECT ON T TO READER",
            "GRANT READER TO WRITER")) {
      assertEquals(Planned.OK, planned.run(sql));
    }
    List<String> script = first.database.script();
    assertTrue(script.contains("CREATE ROLE IF NOT EXISTS \"READER\";"), script.toString());
    assertTrue(script.contains("GRANT SELECT ON \"PUBLIC\".\"T\" TO \"READER\";"));
    assertTrue(script.contains("GRANT \"READER\" TO \"WRITER\";"), script.toString());
  }

  /** Whatever is taken from PUBLIC and from roles, the clients' user keeps its own right. */
  @Test
  void nothingThatIsRevokedLocksClientsOut() {
    Planned planned = new Planned(first);
    for (String sql :
        List.of(
            "CREATE TABLE T(A INT)",
            "CREATE ROLE OWNERS",
            "CREATE SCHEMA APP AUTHORIZATION OWNERS",
            "CREATE TABLE APP.T(A INT)",
            "GRANT ALL ON T TO PUBLIC",
            "REVOKE ALL ON T FROM PUBLIC",
            "GRANT ALL ON SCHEMA PUBLIC TO PUBLIC",
            "REVOKE ALL ON SCHEMA PUBLIC FROM PUBLIC",
            "GRANT SELECT ON APP.T TO OWNERS",
            "GRANT OWNERS TO PUBLIC",
            "REVOKE OWNERS FROM PUBLIC",
            "INSERT INTO T VALUES(1)",
            "INSERT INTO APP.T SELECT A FROM T",
            "UPDATE APP.T SET A = 2",
            "SELECT * FROM T, APP.T",
            "DELETE FROM T",
            "ALTER TABLE APP.T ADD COLUMN B INT",
            "DROP TABLE T",
            "DROP SCHEMA APP CASCADE",
            "DROP ROLE OWNERS")) {
      assertEquals(Planned.OK, planned.run(sql), sql);
    }
  }

  /** Even with all rights that a role can have, clients are no administrators. */
  @Test
  void nothingThatIsGrantedMakesClientsAdministrators() {
    Planned planned = new Planned(first);
    for (String sql :
        List.of(
            "CREATE ROLE ALMIGHTY",
            "GRANT ALL ON SCHEMA PUBLIC TO ALMIGHTY",
            "GRANT ALMIGHTY TO PUBLIC",
            "GRANT ALL ON SCHEMA PUBLIC TO PUBLIC")) {
      assertEquals(Planned.OK, planned.run(sql), sql);
    }
    for (String sql :
        List.of(
            "CREATE USER U PASSWORD ''",
            "CREATE ALIAS F FOR 'java.lang.Math.abs(int)'",
            "SHUTDOWN",
            "SET MODE Oracle",
            "SCRIPT")) {
      String outcome = Planned.stateOf(first.run(first.open(), sql));
      assertEquals("90040", outcome, sql);
    }
  }
}
