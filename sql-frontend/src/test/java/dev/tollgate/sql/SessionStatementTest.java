package dev.tollgate.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tollgate.sql.Plan.Transaction.Kind;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** SET and transaction control become values; H2 gets no text. */
class SessionStatementTest {

  private final SqlFrontend frontend = new SqlFrontend(0);

  static Stream<Arguments> settings() {
    return Stream.of(
        Arguments.of("SET SCHEMA app", Setting.SCHEMA, new Argument.Text("APP")),
        Arguments.of("SET SCHEMA \"app\"", Setting.SCHEMA, new Argument.Text("app")),
        Arguments.of("SET SCHEMA = 'app'", Setting.SCHEMA, new Argument.Text("app")),
        Arguments.of("SET SCHEMA ?", Setting.SCHEMA, new Argument.Parameter(0)),
        Arguments.of("set lock_timeout 5", Setting.LOCK_TIMEOUT, new Argument.Integral(5)),
        Arguments.of("SET LOCK_TIMEOUT ?", Setting.LOCK_TIMEOUT, new Argument.Parameter(0)),
        Arguments.of("SET QUERY_TIMEOUT = 0", Setting.QUERY_TIMEOUT, new Argument.Integral(0)),
        Arguments.of("SET AUTOCOMMIT TRUE", Setting.AUTOCOMMIT, new Argument.Flag(true)),
        Arguments.of("SET AUTOCOMMIT ON", Setting.AUTOCOMMIT, new Argument.Flag(true)),
        Arguments.of("SET AUTOCOMMIT = FALSE", Setting.AUTOCOMMIT, new Argument.Flag(false)),
        Arguments.of("SET AUTOCOMMIT OFF", Setting.AUTOCOMMIT, new Argument.Flag(false)),
        Arguments.of(
            "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
            Setting.ISOLATION,
            new Argument.Text("SERIALIZABLE")),
        Arguments.of(
            "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED",
            Setting.ISOLATION,
            new Argument.Text("READ COMMITTED")),
        Arguments.of(
            "SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED",
            Setting.ISOLATION,
            new Argument.Text("READ UNCOMMITTED")),
        Arguments.of(
            "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
            Setting.ISOLATION,
            new Argument.Text("REPEATABLE READ")),
        Arguments.of(
            "SET TRANSACTION ISOLATION LEVEL SNAPSHOT",
            Setting.ISOLATION,
            new Argument.Text("SNAPSHOT")),
        Arguments.of(
            "SET TIME ZONE 'Europe/Berlin'", Setting.TIME_ZONE, new Argument.Text("Europe/Berlin")),
        Arguments.of("SET TIME ZONE ?", Setting.TIME_ZONE, new Argument.Parameter(0)),
        zone("INTERVAL '5' HOUR", "+05:00:00"),
        zone("INTERVAL '5:30' HOUR TO MINUTE", "+05:30:00"),
        zone("INTERVAL '-5:30' HOUR TO MINUTE", "-05:30:00"),
        zone("INTERVAL -'18' HOUR", "-18:00:00"),
        zone("INTERVAL '90' MINUTE", "+01:30:00"),
        zone("INTERVAL '5:30:15' HOUR TO SECOND", "+05:30:15"),
        Arguments.of("SET TIME ZONE LOCAL", Setting.TIME_ZONE, new Argument.Null()));
  }

  private static Arguments zone(String interval, String offset) {
    return Arguments.of("SET TIME ZONE " + interval, Setting.TIME_ZONE, new Argument.Text(offset));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "INTERVAL '19' HOUR",
        "INTERVAL '1.5' SECOND",
        "INTERVAL '5' MONTH",
        "INTERVAL 'x' HOUR",
        "INTERVAL '5'"
      })
  void intervalThatIsNoOffsetIsRefused(String interval) {
    assertThrows(SqlRefused.class, () -> frontend.plan("SET TIME ZONE " + interval));
  }

  @ParameterizedTest
  @MethodSource("settings")
  void settingIsAValue(String sql, Setting setting, Argument value) {
    int parameters = sql.endsWith("?") ? 1 : 0;
    assertEquals(new Plan.SetSession(setting, value, parameters), frontend.plan(sql));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          BEGIN                     | BEGIN       |
          BEGIN WORK                | BEGIN       |
          BEGIN TRANSACTION         | BEGIN       |
          START TRANSACTION         | BEGIN       |
          COMMIT                    | COMMIT      |
          commit work;              | COMMIT      |
          ROLLBACK                  | ROLLBACK    |
          ROLLBACK WORK             | ROLLBACK    |
          SAVEPOINT a               | SAVEPOINT   | A
          SAVEPOINT "a b"           | SAVEPOINT   | a b
          ROLLBACK TO a             | ROLLBACK_TO | A
          ROLLBACK WORK TO SAVEPOINT "a" | ROLLBACK_TO | a
          ROLLBACK TO "SAVEPOINT"   | ROLLBACK_TO | SAVEPOINT
          RELEASE a                 | RELEASE     | A
          RELEASE SAVEPOINT a       | RELEASE     | A
          """)
  void transactionControlIsAValue(String sql, Kind kind, String savepoint) {
    assertEquals(new Plan.Transaction(kind, savepoint), frontend.plan(sql));
  }

  /** H2's JDBC classes, on which the driver is built, send these of their own accord. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "CALL READONLY()",
        "CALL DATABASE()",
        "CALL SCHEMA()",
        "CALL LOCK_MODE()",
        "SELECT SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS WHERE SETTING_NAME=?",
        "SELECT SETTING_NAME, SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS"
            + " WHERE SETTING_NAME IN (?, ?)",
        "SELECT ISOLATION_LEVEL FROM INFORMATION_SCHEMA.SESSIONS WHERE SESSION_ID = SESSION_ID()",
        "SELECT STATE_COMMAND FROM INFORMATION_SCHEMA.SESSION_STATE",
        "SELECT * FROM INFORMATION_SCHEMA.IN_DOUBT ORDER BY TRANSACTION_NAME",
        "SELECT \"A\",\"B\" FROM \"PUBLIC\".\"T\" WHERE \"ID\"=?"
      })
  void queriesOfTheDriverAreReads(String sql) {
    assertInstanceOf(Plan.Read.class, frontend.plan(sql));
  }

  @Test
  void statementsOfTheDriverArePlanned() {
    assertInstanceOf(Plan.SetSession.class, frontend.plan("SET QUERY_TIMEOUT ?"));
    assertInstanceOf(Plan.SetSession.class, frontend.plan("SET SCHEMA \"PUBLIC\""));
    assertInstanceOf(Plan.Transaction.class, frontend.plan("SAVEPOINT SYSTEM_SAVEPOINT_0"));
    assertInstanceOf(
        Plan.Transaction.class, frontend.plan("ROLLBACK TO SAVEPOINT SYSTEM_SAVEPOINT_0"));
    assertInstanceOf(
        Plan.Write.class,
        frontend.plan("UPDATE \"PUBLIC\".\"T\" SET \"A\"=? WHERE \"ID\"=? AND \"A\" IS NULL"));
  }
}
