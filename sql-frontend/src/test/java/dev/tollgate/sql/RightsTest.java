package dev.tollgate.sql;

import static dev.tollgate.sql.Refusal.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tollgate.sql.Plan.ConfigureRight;
import dev.tollgate.sql.Plan.ConfigureRight.Right;
import dev.tollgate.sql.SqlRefused.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** GRANT and REVOKE: H2 keeps the rights on tables and schemas, and the core those on locks. */
class RightsTest {

  private static final Argument PATTERN = new Argument.Text("payments-%");

  private final SqlFrontend frontend = new SqlFrontend(0);

  @Test
  void rightOnLocksIsGrantedAndRevoked() {
    assertEquals(
        new ConfigureRight(true, Right.LOCK, PATTERN, null, "BILLING", 0),
        frontend.plan("GRANT LOCK ON 'payments-%' TO billing"));
    assertEquals(
        new ConfigureRight(true, Right.FORCE, new Argument.Text("50\\% 'x'"), null, "PUBLIC", 0),
        frontend.plan("grant force on '50\\% ''x''' to public ;"));
    assertEquals(
        new ConfigureRight(false, Right.LOCK, new Argument.Parameter(0), null, "A B", 1),
        frontend.plan("REVOKE LOCK ON ? FROM \"a b\""));
    assertEquals(
        new ConfigureRight(false, Right.FORCE, PATTERN, null, "BILLING", 0),
        frontend.plan("REVOKE FORCE ON 'payments-%' FROM billing"));
  }

  @Test
  void rightOnASequenceIsGrantedAndRevoked() {
    assertEquals(
        new ConfigureRight(true, Right.SEQUENCE, null, new ObjectName(null, "S"), "BILLING", 0),
        frontend.plan("GRANT USAGE ON SEQUENCE s TO billing"));
    assertEquals(
        new ConfigureRight(false, Right.SEQUENCE, null, new ObjectName("APP", "s"), "PUBLIC", 0),
        frontend.plan("REVOKE USAGE ON SEQUENCE app.\"s\" FROM PUBLIC"));
  }

  @Test
  void rightOnEverythingIsGrantedAndRevoked() {
    assertEquals(
        new ConfigureRight(true, Right.AUDIT, null, null, "BOB", 0),
        frontend.plan("GRANT AUDIT ON CLUSTER TO bob"));
    assertEquals(
        new ConfigureRight(false, Right.AUDIT, null, null, "BOB", 0),
        frontend.plan("revoke audit on cluster from bob"));
    assertEquals(
        new ConfigureRight(true, Right.MANAGE, null, null, "PUBLIC", 0),
        frontend.plan("GRANT MANAGE ON LOCKS TO PUBLIC"));
    assertEquals(
        new ConfigureRight(false, Right.MANAGE, null, null, "a b", 0).right(),
        ((ConfigureRight) frontend.plan("REVOKE MANAGE ON LOCKS FROM \"a b\"")).right());
  }

  /** LOCK, FORCE, USAGE, AUDIT and MANAGE are names of roles unless ON follows. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "GRANT lock TO bob",
        "REVOKE force FROM bob",
        "GRANT usage TO r",
        "GRANT audit TO r",
        "REVOKE manage FROM r",
        "GRANT SELECT ON lock TO usage",
        "GRANT SELECT, INSERT ON TABLE t, s.u TO bob",
        "GRANT ALL PRIVILEGES ON SCHEMA app TO bob",
        "REVOKE ALL ON t FROM bob",
        "GRANT r TO bob",
        "CREATE SCHEMA app AUTHORIZATION bob",
        "CREATE SCHEMA IF NOT EXISTS AUTHORIZATION bob"
      })
  void rightsThatH2KnowsAreDefinitions(String sql) {
    Plan.Write write = assertInstanceOf(Plan.Write.class, frontend.plan(sql));
    assertEquals(WriteKind.DDL, write.kind());
    assertEquals(sql, write.sql());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          GRANT LOCK ON '' TO r                 | NOT_ALLOWED | 15 | a pattern of lock names has 1 to 510 characters, this one has 0
          GRANT LOCK ON payments TO r           | SYNTAX      | 15 | unexpected "payments"
          GRANT LOCK ON ('a') TO r              | SYNTAX      | 15 | unexpected "("
          GRANT LOCK ON 'a', 'b' TO r           | SYNTAX      | 18 | unexpected ","
          GRANT LOCK ON LOCK 'a' TO r           | SYNTAX      | 15 | unexpected "LOCK"
          GRANT LOCK ON 'a' FROM r              | SYNTAX      | 19 | expected TO
          REVOKE LOCK ON 'a' TO r               | SYNTAX      | 20 | expected FROM
          GRANT LOCK ON 'a' TO r, s             | SYNTAX      | 23 | unexpected ","
          GRANT LOCK ON 'a' TO r FENCED BY LOCK 'a' TOKEN 1 | SYNTAX | 24 | FENCED BY LOCK stands
          GRANT LOCK, FORCE ON 'a' TO r         | SYNTAX      | 11 | LOCK, FORCE, USAGE, AUDIT and MANAGE are granted and revoked one at a time
          GRANT AUDIT ON LOCKS TO r             | SYNTAX      | 16 | unexpected "LOCKS"
          GRANT MANAGE ON CLUSTER TO r          | SYNTAX      | 17 | unexpected "CLUSTER"
          GRANT AUDIT ON 'a' TO r               | SYNTAX      | 16 | unexpected "'a'"
          GRANT MANAGE ON LOCKS FROM r          | SYNTAX      | 23 | expected TO
          GRANT "LOCK" ON 'a' TO r              | SYNTAX      | 14 | unexpected "ON"
          GRANT USAGE ON s TO r                 | SYNTAX      | 16 | unexpected "s"
          GRANT USAGE ON SEQUENCE s, q TO r     | SYNTAX      | 26 | unexpected ","
          GRANT USAGE ON SEQUENCE 's' TO r      | SYNTAX      | 25 | unexpected "'s'"
          GRANT USAGE ON SEQUENCE a.b.c.d TO r  | SYNTAX      | 25 | at most three parts
          """)
  void wrongStatementIsRefused(String sql, Reason reason, int column, String sentence) {
    assertRefused(sql, reason, column, sentence);
  }

  @Test
  void longPatternIsRefused() {
    String longest = "\\%".repeat(SqlLimits.LOCK_NAME_LENGTH);
    assertEquals(SqlLimits.LOCK_PATTERN_LENGTH, longest.length());
    assertInstanceOf(ConfigureRight.class, frontend.plan("GRANT LOCK ON '" + longest + "' TO bob"));
    assertRefused(
        "GRANT LOCK ON '" + longest + "%' TO bob",
        Reason.NOT_ALLOWED,
        15,
        "a pattern of lock names has 1 to 510 characters, this one has 511");
  }

  @Test
  void contradictoryPlanCannotBeMade() {
    ObjectName sequence = new ObjectName(null, "S");
    assertThrows(
        IllegalArgumentException.class,
        () -> new ConfigureRight(true, Right.LOCK, null, null, "R", 0));
    assertThrows(
        IllegalArgumentException.class,
        () -> new ConfigureRight(true, Right.LOCK, PATTERN, sequence, "R", 0));
    assertThrows(
        IllegalArgumentException.class,
        () -> new ConfigureRight(true, Right.SEQUENCE, PATTERN, sequence, "R", 0));
    assertThrows(
        IllegalArgumentException.class,
        () -> new ConfigureRight(true, Right.SEQUENCE, null, null, "R", 0));
    assertThrows(
        IllegalArgumentException.class,
        () -> new ConfigureRight(true, Right.FORCE, new Argument.Null(), null, "R", 0));
  }
}
