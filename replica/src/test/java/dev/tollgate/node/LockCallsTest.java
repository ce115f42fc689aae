package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Limits;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A statement that calls lock functions many times. */
@Timeout(60)
class LockCallsTest {
  private static final int MOST = Limits.LOCK_CALLS_PER_STATEMENT;

  private Connection connection;
  private Statement statement;

  @BeforeEach
  void connect() throws SQLException {
    connection = DriverManager.getConnection("jdbc:tollgate:mem:" + UUID.randomUUID());
    statement = connection.createStatement();
  }

  @AfterEach
  void disconnect() throws SQLException {
    connection.close();
  }

  private int rows(String sql) throws SQLException {
    int rows = 0;
    try (ResultSet result = statement.executeQuery(sql)) {
      while (result.next()) {
        rows++;
      }
    }
    return rows;
  }

  private SQLException refused(String sql) {
    return assertThrows(SQLException.class, () -> statement.execute(sql));
  }

  @Test
  void statementCallsLockFunctionsSoManyTimes() throws SQLException {
    String calls = "SELECT force_release_lock('m-' || X) FROM SYSTEM_RANGE(1, %d)";
    assertEquals(MOST, rows(calls.formatted(MOST)));
    SQLException tooMany = refused(calls.formatted(MOST + 1));
    assertEquals("53300", tooMany.getSQLState());
    assertTrue(tooMany.getMessage().contains("at most " + MOST + " times"), tooMany.getMessage());
    assertTrue(tooMany.getMessage().contains("; " + MOST + " of its calls"), tooMany.getMessage());
    assertEquals(MOST, rows(calls.formatted(MOST)), "each statement has calls of its own");
  }

  @Test
  void statementThatFailsSaysWhatStands() throws SQLException {
    SQLException failed =
        refused("SELECT try_acquire_lock('a' || X), 6 / (3 - X) FROM SYSTEM_RANGE(1, 5)");
    assertEquals("22012", failed.getSQLState());
    assertTrue(
        failed.getMessage().contains("; 3 of its calls of lock functions were carried out"),
        failed.getMessage());
    assertEquals(3, rows("SELECT * FROM TOLLGATE.LOCKS WHERE LOCK_NAME LIKE 'a%'"));
    assertTrue(
        !refused("SELECT 6 / (3 - X) FROM SYSTEM_RANGE(1, 5)").getMessage().contains("calls"));
  }

  @Test
  void grantIsShortEnoughToBeReadWhole() throws SQLException {
    statement.execute("CREATE ROLE AUDITED");
    String grant = "GRANT SELECT ON T TO AUDITED";
    statement.execute("CREATE TABLE T(A INT)");
    String list = "T, ".repeat((Limits.GRANT_CHARS - grant.length()) / 3);
    statement.execute(grant.replace("ON T", "ON " + list + "T"));
    SQLException tooLong = refused(grant.replace("ON T", "ON " + list + "T, T"));
    assertEquals("54001", tooLong.getSQLState());
    assertTrue(tooLong.getMessage().contains("name fewer objects"), tooLong.getMessage());
  }
}
