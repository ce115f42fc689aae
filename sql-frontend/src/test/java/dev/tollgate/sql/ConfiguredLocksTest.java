package dev.tollgate.sql;

import static dev.tollgate.sql.Refusal.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.tollgate.sql.SqlRefused.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** CREATE, ALTER and DROP LOCK say how many leases may hold a lock; H2 does not see them. */
class ConfiguredLocksTest {

  private static final Argument POOL = new Argument.Text("pool");

  private final SqlFrontend frontend = new SqlFrontend(0);

  @Test
  void lockIsCreatedAlteredAndDropped() {
    assertEquals(
        configure(Plan.ConfigureLock.Change.CREATE, new Argument.Integral(5), false),
        frontend.plan("CREATE LOCK 'pool' PERMITS 5"));
    assertEquals(
        configure(Plan.ConfigureLock.Change.CREATE, new Argument.Integral(10_000), true),
        frontend.plan("create lock if not exists ('pool') permits 10000 ;"));
    assertEquals(
        configure(Plan.ConfigureLock.Change.ALTER, new Argument.Integral(1), false),
        frontend.plan("ALTER LOCK 'pool' PERMITS 1"));
    assertEquals(
        configure(Plan.ConfigureLock.Change.ALTER, new Argument.Integral(7), true),
        frontend.plan("ALTER LOCK IF EXISTS 'pool' PERMITS 7"));
    assertEquals(
        new Plan.ConfigureLock(Plan.ConfigureLock.Change.DROP, POOL, null, false, 0),
        frontend.plan("DROP LOCK 'pool'"));
    assertEquals(
        new Plan.ConfigureLock(Plan.ConfigureLock.Change.DROP, POOL, null, true, 0),
        frontend.plan("DROP LOCK IF EXISTS 'pool'"));
  }

  @Test
  void nameAndPermitsMayBeParameters() {
    assertEquals(
        new Plan.ConfigureLock(
            Plan.ConfigureLock.Change.CREATE,
            new Argument.Parameter(0),
            new Argument.Parameter(1),
            true,
            2),
        frontend.plan("CREATE LOCK IF NOT EXISTS ? PERMITS ?"));
    assertEquals(
        new Plan.ConfigureLock(
            Plan.ConfigureLock.Change.ALTER, POOL, new Argument.Parameter(0), false, 1),
        frontend.plan("ALTER LOCK 'pool' PERMITS ?"));
    assertEquals(
        new Plan.ConfigureLock(
            Plan.ConfigureLock.Change.DROP, new Argument.Parameter(0), null, false, 1),
        frontend.plan("DROP LOCK ?"));
  }

  private static Plan.ConfigureLock configure(
      Plan.ConfigureLock.Change change, Argument permits, boolean lenient) {
    return new Plan.ConfigureLock(change, POOL, permits, lenient, 0);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          CREATE LOCK 'pool' PERMITS 0                         | NOT_ALLOWED | 28 | a lock has 1 to 10000 permits
          CREATE LOCK 'pool' PERMITS 10001                     | NOT_ALLOWED | 28 | a lock has 1 to 10000 permits
          ALTER LOCK 'pool' PERMITS 9223372036854775808        | NOT_ALLOWED | 27 | a lock has 1 to 10000 permits
          CREATE LOCK 'pool' PERMITS -1                        | SYNTAX      | 28 | unexpected "-"
          CREATE LOCK 'pool' PERMITS 1.5                       | SYNTAX      | 28 | unexpected "1.5"
          CREATE LOCK 'pool' PERMITS NULL                      | SYNTAX      | 28 | unexpected "NULL"
          CREATE LOCK '' PERMITS 5                             | NOT_ALLOWED | 13 | 1 to 255 characters
          CREATE LOCK pool PERMITS 5                           | SYNTAX      | 13 | unexpected "pool"
          CREATE LOCK (UPPER('b')) PERMITS 5                   | NOT_ALLOWED | 13 | here name one lock
          CREATE LOCK 'pool'                                   | SYNTAX      | 18 | ends too early, expected PERMITS
          CREATE LOCK 'pool' PERMIT 5                          | SYNTAX      | 20 | expected PERMITS
          CREATE LOCK IF EXISTS 'pool' PERMITS 5               | SYNTAX      | 16 | expected NOT
          CREATE OR REPLACE LOCK 'pool' PERMITS 5              | SYNTAX      | 8  | unexpected "OR"
          CREATE LOCK 'pool' PERMITS 5 FENCED BY LOCK 'a' TOKEN 1 | SYNTAX   | 30 | FENCED BY LOCK stands
          ALTER LOCK IF NOT EXISTS 'pool' PERMITS 5            | SYNTAX      | 15 | unexpected "NOT"
          ALTER LOCK 'pool'                                    | SYNTAX      | 17 | ends too early
          DROP LOCK 'pool' PERMITS 5                           | SYNTAX      | 18 | unexpected "PERMITS"
          DROP LOCK 'pool', 'other'                            | SYNTAX      | 17 | unexpected ","
          EXPLAIN CREATE LOCK 'pool' PERMITS 5                 | SYNTAX      | 9  | unexpected "CREATE"
          """)
  void wrongDefinitionIsRefused(String sql, Reason reason, int column, String sentence) {
    assertRefused(sql, reason, column, sentence);
  }

  /** LOCK and PERMITS are no reserved words. */
  @Test
  void wordsOfTheDefinitionAreFree() {
    assertInstanceOf(
        Plan.Write.class, frontend.plan("CREATE TABLE lock (permits INT, lock VARCHAR(5))"));
    assertInstanceOf(
        Plan.Read.class, frontend.plan("SELECT lock.permits FROM lock lock WHERE permits > 1"));
    assertInstanceOf(Plan.Write.class, frontend.plan("DROP TABLE lock"));
  }
}
