package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.SessionId;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The bounded functions are H2's, but for results that nobody could keep. */
class StringFunctionsTest {
  private static final int CALLS = 3_000;

  private final StoreDriver replica = new StoreDriver();
  private final SessionId session = replica.open();

  @AfterEach
  void close() {
    replica.close();
  }

  @Test
  void randomCallsGiveWhatH2Gives() throws SQLException {
    long seed = Long.getLong("tollgate.seed", System.nanoTime());
    System.out.println("StringFunctionsTest: -Dtollgate.seed=" + seed);
    Random random = new Random(seed);
    for (int i = 0; i < CALLS; i++) {
      String call = randomCall(random);
      assertEquals(answer(call), answer("TOLLGATE." + call), call);
    }
  }

  private static String randomCall(Random random) {
    String text = randomText(random);
    String number = randomNumber(random);
    return switch (random.nextInt(8)) {
      case 0 -> "REPEAT(" + text + ", " + number + ")";
      case 1 -> "SPACE(" + number + ")";
      case 2 -> "LPAD(" + text + ", " + number + ")";
      case 3 -> "LPAD(" + text + ", " + number + ", " + randomText(random) + ")";
      case 4 -> "RPAD(" + text + ", " + number + ")";
      case 5 -> "RPAD(" + text + ", " + number + ", " + randomText(random) + ")";
      case 6 -> "REPLACE(" + text + ", " + randomText(random) + ")";
      default -> "REPLACE(" + text + ", " + randomText(random) + ", " + randomText(random) + ")";
    };
  }

  private static String randomText(Random random) {
    return pick(
        random,
        "NULL",
        "''",
        "'a'",
        "'aa'",
        "'aba'",
        "'abab aba'",
        "' '",
        "U&'\\+01F600'",
        "U&'x\\+01F600y'",
        "12",
        "1.50",
        "TRUE",
        "DATE '2001-02-03'",
        "CAST('ab ' AS CHAR(5))",
        "X'0102'",
        "CAST(NULL AS VARCHAR)",
        "'5'");
  }

  private static String randomNumber(Random random) {
    return pick(
        random,
        "NULL",
        "0",
        "1",
        "2",
        "3",
        "7",
        "-1",
        "2.5",
        "'4'",
        "'x'",
        "CAST(3 AS BIGINT)",
        "3000000000",
        "TRUE",
        "100");
  }

  private static String pick(Random random, String... choices) {
    return choices[random.nextInt(choices.length)];
  }

  private String answer(String call) {
    List<String> answer = new ArrayList<>();
    for (String sql :
        List.of(
            "SELECT " + call,
            "SELECT CHAR_LENGTH(" + call + ") FROM SYSTEM_RANGE(1, 1)",
            "SELECT " + call + " || 'x'")) {
      try {
        answer.add(replica.query(sql).toString());
      } catch (SQLException e) {
        answer.add(e.getSQLState());
      }
    }
    return answer.toString();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "REPEAT('x', 2147483647)",
        "REPEAT('xxxx', 1073741824)",
        "REPEAT('x', 1048577)",
        "SPACE(2147483647)",
        "LPAD('x', 2147483647)",
        "RPAD('x', 1048577, 'y')",
        "REPLACE(TOLLGATE.REPEAT('x', 1048576), 'x', 'yy')",
        "REPLACE(TOLLGATE.REPEAT('x', 1000000), 'x', TOLLGATE.REPEAT('y', 1000000))"
      })
  void resultThatIsTooLongIsRefusedAsH2WouldOnceItHadIt(String call) {
    Outcome outcome = replica.run(session, "CREATE TABLE N AS SELECT TOLLGATE." + call + " AS S");
    Outcome.SqlFailed failed = assertInstanceOf(Outcome.SqlFailed.class, outcome);
    assertEquals("22001", failed.sqlState(), failed.message());
    assertEquals(22001, failed.vendorCode());
    assertTrue(
        failed.message().startsWith("Value too long for column \"CHARACTER VARYING\""),
        failed.message());
  }

  @Test
  void definitionsMayUseThem() throws SQLException {
    replica.ok(
        session,
        "CREATE TABLE T(ID INT, D VARCHAR DEFAULT TOLLGATE.LPAD('7', 3, '0'), G VARCHAR GENERATED"
            + " ALWAYS AS (TOLLGATE.REPEAT('x', ID)), CHECK (TOLLGATE.REPLACE(D, 'a') <> ''))");
    replica.ok(session, "CREATE VIEW V AS SELECT TOLLGATE.RPAD(D, 5, '-') AS R FROM T");
    replica.ok(session, "INSERT INTO T(ID) VALUES(3)");
    assertEquals(List.of("3,007,xxx"), replica.query("SELECT * FROM T"));
    assertEquals(List.of("007--"), replica.query("SELECT R FROM V"));
    Outcome refused = replica.run(session, "INSERT INTO T(ID, D) VALUES(4, 'aaa')");
    assertEquals("23513", ((Outcome.SqlFailed) refused).sqlState());
  }
}
