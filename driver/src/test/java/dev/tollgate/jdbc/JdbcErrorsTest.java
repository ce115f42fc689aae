package dev.tollgate.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.fake.FakeCluster;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.SqlState;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLDataException;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.sql.SQLInvalidAuthorizationSpecException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLNonTransientException;
import java.sql.SQLSyntaxErrorException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransactionRollbackException;
import java.sql.SQLTransientConnectionException;
import java.sql.SQLTransientException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class JdbcErrorsTest {
  private static final String[] SETUP = {
    "CREATE TABLE P(ID INT PRIMARY KEY, V VARCHAR(3) NOT NULL, CHECK (ID < 100))",
    "CREATE TABLE C(ID INT REFERENCES P(ID))",
    "INSERT INTO P VALUES(1,'a')",
    "INSERT INTO C VALUES(1)",
  };

  private static final String[] BAD_STATEMENTS = {
    "SELEC 1",
    "SELECT FROM WHERE",
    "SELECT * FROM NOWHERE",
    "SELECT NOTHING FROM P",
    "SELECT NO_FUNCTION(1)",
    "INSERT INTO P VALUES(1,'b')",
    "INSERT INTO P VALUES(2,NULL)",
    "INSERT INTO P VALUES(2,'long')",
    "INSERT INTO P VALUES(200,'c')",
    "INSERT INTO P VALUES(2)",
    "INSERT INTO C VALUES(9)",
    "DELETE FROM P",
    "UPDATE P SET ID='x'",
    "SELECT 1/0",
    "SELECT CAST('x' AS INT)",
    "SELECT CAST('2020-13-01' AS DATE)",
    "SELECT CAST(300 AS TINYINT)",
    "CREATE TABLE P(ID INT)",
    "DROP TABLE NOWHERE",
    "DROP SCHEMA NOWHERE",
    "ALTER TABLE P DROP COLUMN NOTHING",
    "SELECT (SELECT ID FROM P UNION SELECT 2)",
    "SELECT SUM(V) FROM P",
    "CREATE SEQUENCE S START WITH 5 MAXVALUE 1",
    "VALUES (1,2),(3)",
    "SELECT ?",
  };

  @Test
  void databaseErrorsAreExactlyThoseOfH2() throws Exception {
    try (FakeCluster cluster = FakeCluster.start(1);
        Connection tollgate = DriverManager.getConnection(cluster.url(""));
        Connection h2 = DriverManager.getConnection("jdbc:h2:mem:")) {
      for (String sql : SETUP) {
        execute(tollgate, sql);
        execute(h2, sql);
      }
      for (String sql : BAD_STATEMENTS) {
        SQLException expected = assertThrows(SQLException.class, () -> execute(h2, sql), sql);
        SQLException actual = assertThrows(SQLException.class, () -> execute(tollgate, sql), sql);
        assertEquals(expected.getClass(), actual.getClass(), sql);
        assertEquals(expected.getSQLState(), actual.getSQLState(), sql);
        assertEquals(expected.getErrorCode(), actual.getErrorCode(), sql);
        assertEquals(expected.getMessage(), actual.getMessage(), sql);
      }
      assertTrue(tollgate.isValid(1));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "CREATE USER bob PASSWORD 'hunter22'",
        "create /* a */ user -- b\n bob pasword 'hunter22'",
        "ALTER USER bob SET PASSWORD 'hunter22'",
        "SET PASSWORD'hunter22'",
        "SET PA\u017F\u017FWORD 'hunter22'",
        "UPDATE accounts SET db_password = 'hunter22' WHERE id = 'x'",
        "CREATE LINKED TABLE l('d', 'u', 'sa', 'hunter22', 't')",
        "CREATE USER bob IDENTIFIED  BY 'hunter22'"
      })
  void exceptionShowsNoPassword(String sql) {
    for (SqlState state : SqlState.values()) {
      SQLException e = JdbcErrors.exception(new Reply.Failure(state, "what"), sql, null);
      assertFalse(e.toString().contains("hunter22"), e.toString());
    }
    SQLException ofH2 = JdbcErrors.exception(new Reply.Failure("23505", 23505, "what"), sql, null);
    assertFalse(ofH2.toString().contains("hunter22"), ofH2.toString());
  }

  @Test
  void otherStatementsAreShownInFull() {
    SQLException e =
        JdbcErrors.exception(
            new Reply.Failure("23505", 23505, "what"), "UPDATE users SET a=1", null);
    assertTrue(e.getMessage().contains("UPDATE users SET a=1"), e.getMessage());
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  @ParameterizedTest
  @EnumSource
  void eachOwnStateHasItsClassAndKeepsStateCodeAndText(SqlState state) {
    SQLException e =
        JdbcErrors.exception(new Reply.Failure(state, "what happened"), "UPDATE T", null);
    Class<? extends SQLException> expected =
        switch (state) {
          case STALE_TOKEN, TOKEN_MISSING -> SQLIntegrityConstraintViolationException.class;
          case LEASE_GONE,
              LOCK_UPGRADE,
              FENCE_STATE,
              LOCK_STATE,
              ADMINISTRATION,
              USER_STATE,
              ACTIVE_TRANSACTION,
              NO_TRANSACTION,
              FAILED_TRANSACTION,
              TOO_LARGE,
              TOO_MUCH_WORK,
              NO_MEMORY,
              DISK,
              SKIPPED,
              INTERNAL ->
              SQLNonTransientException.class;
          case LOGIN_REFUSED -> SQLInvalidAuthorizationSpecException.class;
          case CONFLICT -> SQLTransactionRollbackException.class;
          case RIGHT_MISSING, REFUSED_STATEMENT -> SQLSyntaxErrorException.class;
          case NOT_SUPPORTED -> SQLFeatureNotSupportedException.class;
          case INVALID_ARGUMENT, NOT_TEXT -> SQLDataException.class;
          case TOO_MANY, BUSY, ENVIRONMENT_CHANGES -> SQLTransientException.class;
          case CANCELLED -> SQLTimeoutException.class;
          case NO_QUORUM -> SQLTransientConnectionException.class;
          case CONNECTION_REFUSED, PROTOCOL_VIOLATION, SESSION_GONE, OUTCOME_UNKNOWN ->
              SQLNonTransientConnectionException.class;
        };
    assertTrue(expected.isInstance(e), e.getClass().getName());
    assertEquals(state.state(), e.getSQLState());
    assertEquals(state.vendorCode(), e.getErrorCode());
    assertTrue(e.getMessage().startsWith("what happened"), e.getMessage());
    assertEquals(state != SqlState.NO_QUORUM, e.getMessage().contains("UPDATE T"));
  }

  @ParameterizedTest
  @EnumSource
  void poolsThrowAConnectionAwayOnlyWhereItIsDead(SqlState state) {
    boolean dead =
        switch (state) {
          case NO_QUORUM, CONNECTION_REFUSED, PROTOCOL_VIOLATION, SESSION_GONE, OUTCOME_UNKNOWN ->
              true;
          default -> false;
        };
    assertEquals(dead, state.state().startsWith("08"), state.name());
    assertTrue(!state.state().equals("0A000") && !state.state().startsWith("57P0"));
    for (int evicting : new int[] {500_150, 2399, 1105}) {
      assertTrue(state.vendorCode() != evicting, state.name());
    }
  }
}
