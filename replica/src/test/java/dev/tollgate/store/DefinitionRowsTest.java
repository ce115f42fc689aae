package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.SessionId;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a definition computes for the rows that are there counts. */
class DefinitionRowsTest {
  /** Too much work, or an expression that reads the table that is made anew for it. */
  private static final List<String> REFUSED = List.of("54001", "22003", "90107");

  private static final String CROSS = "(SELECT COUNT(*) FROM A B, A C, A D, A E)";

  private final StoreDriver replica = new StoreDriver(TenthOfLimits.database());
  private final SessionId session = replica.open();

  @BeforeEach
  void makeTables() {
    replica.ok(session, "CREATE TABLE A(ID INT PRIMARY KEY, T VARCHAR, N VARCHAR)");
    replica.ok(session, "INSERT INTO A SELECT X, 'a' || X, X FROM SYSTEM_RANGE(1, 30)");
    replica.ok(session, "CREATE SEQUENCE S");
    replica.ok(session, "CREATE DOMAIN SLOW AS VARCHAR CHECK (VALUE NOT LIKE '%a%a%a%a%b')");
    replica.ok(session, "CREATE TABLE L(V SLOW)");
    replica.ok(session, "CREATE DOMAIN FAST AS VARCHAR");
    replica.ok(session, "CREATE TABLE F(V FAST)");
    replica.ok(session, "INSERT INTO F VALUES(REPEAT('a', 300))");
    replica.ok(session, "CREATE DOMAIN WIDE AS INT CHECK (REPEAT('x', 1000000 + VALUE) <> 'a')");
    replica.ok(session, "CREATE TABLE W(V WIDE)");
  }

  @AfterEach
  void close() {
    replica.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ALTER TABLE A ADD COLUMN G VARCHAR GENERATED ALWAYS AS (REPEAT('x', 1000000 - ID))",
        "ALTER TABLE A ADD COLUMN G VARCHAR DEFAULT REPEAT('x', 999000 + MOD(NEXT VALUE FOR S, 9))",
        "ALTER TABLE A ADD (D INT DEFAULT 5, G VARCHAR AS (REPEAT('x', 1000000 - A.ID - D)))",
        "ALTER TABLE A ALTER COLUMN T SET DATA TYPE VARCHAR USING REPEAT('x', 1000000 - ID)",
        "ALTER TABLE A ALTER COLUMN T SET DATA TYPE VARCHAR USING ID + " + CROSS,
        "ALTER TABLE A ADD COLUMN D BIGINT DEFAULT " + CROSS,
        "ALTER TABLE A ADD COLUMN D BIGINT DEFAULT 5 CHECK (D < " + CROSS + ")",
        "ALTER TABLE A ADD CHECK (ID < " + CROSS + ")",
        "ALTER TABLE A ADD CONSTRAINT C CHECK (A.ID < " + CROSS + ")",
        "ALTER TABLE A ADD COLUMN E NUMERIC(20, 2) GENERATED ALWAYS AS (N || 'e9999999')",
        "ALTER TABLE A ALTER COLUMN N SET DATA TYPE NUMERIC(20, 2) USING N || 'e9999999'",
        "CREATE TABLE B(ID INT CHECK (ID < " + CROSS + ")) AS SELECT ID FROM A",
        "CREATE TABLE B(ID INT, T VARCHAR, CHECK (ID < " + CROSS + ")) AS SELECT ID, T FROM A",
        "CREATE TABLE B(T VARCHAR CHECK (T NOT LIKE '%a%a%a%a%b')) AS SELECT REPEAT('a', 300)",
        "CREATE TABLE B(T SLOW) AS SELECT REPEAT('a', 300)",
        "ALTER TABLE A ALTER COLUMN N SET DATA TYPE SLOW USING REPEAT('a', 300)",
        "ALTER TABLE A ADD COLUMN L SLOW DEFAULT LOWER(REPEAT('A', 300))",
        "INSERT INTO L VALUES(REPEAT('a', 300))",
        "INSERT INTO A SELECT 1000, CAST(REPEAT('a', 300) AS SLOW), 'b'",
        "UPDATE A SET T = CAST(REPEAT('a', 300) AS SLOW)",
        "ALTER DOMAIN FAST ADD CHECK (VALUE NOT LIKE '%a%a%a%a%b')",
        "INSERT INTO W SELECT X FROM SYSTEM_RANGE(1, 400)"
      })
  void tooMuchIsRefused(String sql) throws SQLException {
    String before = replica.script();
    Outcome.SqlFailed failed =
        assertInstanceOf(Outcome.SqlFailed.class, replica.run(session, sql), sql);
    assertTrue(REFUSED.contains(failed.sqlState()), failed.sqlState() + failed.message());
    assertEquals(before, replica.script());
  }

  @ParameterizedTest
  @ValueSource(strings = {"ALTER DOMAIN D ADD", "CREATE DOMAIN E AS INT CHECK (VALUE > 1)"})
  void checkOfADomainHasNoSubquery(String begin) {
    replica.ok(session, "CREATE DOMAIN D AS INT");
    Outcome.SqlFailed failed =
        assertInstanceOf(
            Outcome.SqlFailed.class,
            replica.run(session, begin + " CHECK (VALUE < " + CROSS + ")"));
    assertEquals("54001", failed.sqlState(), failed.message());
    replica.ok(session, "ALTER DOMAIN D ADD CHECK (VALUE < 5 AND VALUE NOT IN (3, 4))");
  }

  @Test
  void ruleThatIsThereStays() {
    replica.ok(session, "CREATE DOMAIN P AS INT");
    replica.ok(session, "CREATE TABLE OLD(V P)");
    replica.ok(session, "INSERT INTO OLD VALUES(-1)");
    replica.ok(session, "ALTER DOMAIN P ADD CONSTRAINT C CHECK (VALUE > 0) NOCHECK");
    replica.ok(session, "ALTER DOMAIN P ADD CONSTRAINT IF NOT EXISTS C CHECK (VALUE > 0)");
    Outcome.SqlFailed failed =
        assertInstanceOf(
            Outcome.SqlFailed.class, replica.run(session, "INSERT INTO OLD VALUES(-2)"));
    assertEquals("23513", failed.sqlState(), failed.message());
  }

  @Test
  void otherDefinitionsDoWhatTheyDid() throws SQLException {
    for (String sql :
        List.of(
            "ALTER TABLE A ADD COLUMN IF NOT EXISTS T INT DEFAULT 1 + 1",
            "ALTER TABLE A ADD COLUMN I BIGINT GENERATED ALWAYS AS IDENTITY",
            "ALTER TABLE A ADD COLUMN S1 BIGINT DEFAULT NEXT VALUE FOR S",
            "ALTER TABLE A ADD (\"d d\" INT DEFAULT 5 CHECK (\"d d\" > 1), G INT AS (ID + \"d d\"))",
            "ALTER TABLE A ADD COLUMN C CHAR(3) DEFAULT UPPER('a') NOT NULL",
            "ALTER TABLE A ADD COLUMN U UUID DEFAULT RANDOM_UUID() UNIQUE",
            "ALTER TABLE A ADD COLUMN E ENUM('a', 'b') DEFAULT LOWER('B')",
            "ALTER TABLE A ADD COLUMN R INT ARRAY DEFAULT ARRAY[1, 1 + 1]",
            "ALTER TABLE A ADD COLUMN TS TIMESTAMP(3) DEFAULT CURRENT_TIMESTAMP",
            "ALTER TABLE A ADD COLUMN IV INTERVAL DAY DEFAULT CAST(INTERVAL '1' DAY AS INTERVAL DAY)",
            "ALTER TABLE A ADD CONSTRAINT CC CHECK (ID > 0 AND G = ID + 5)",
            "ALTER TABLE A ALTER COLUMN N SET DATA TYPE INT USING CAST(N AS INT) * 2",
            "ALTER TABLE A ALTER COLUMN T VARCHAR(50) DEFAULT UPPER('x')")) {
      replica.ok(session, sql);
    }
    assertEquals(
        List.of("30"),
        replica.query(
            "SELECT COUNT(*) FROM A WHERE I = ID AND S1 = ID AND G = ID + 5 AND C = 'A' AND E = 'b'"
                + " AND R = ARRAY[1, 2] AND N = 2 * ID"));
    assertInstanceOf(
        Outcome.SqlFailed.class, replica.run(session, "ALTER TABLE A ADD CHECK (ID > 1)"));
    assertInstanceOf(
        Outcome.SqlFailed.class,
        replica.run(session, "ALTER TABLE A ADD COLUMN F INT AS (NOTHING + 1)"));
  }
}
