package dev.tollgate.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract over {@code jdbc:tollgate:embedded:}, and what a restart keeps. */
class EmbeddedContractTest extends JdbcContract {
  @TempDir private Path directory;
  private Connection keepsTheNode;

  @BeforeEach
  void startNode() throws SQLException {
    keepsTheNode = connect("");
  }

  @AfterEach
  void stopNode() throws SQLException {
    keepsTheNode.close();
  }

  @Override
  Connection connect(String properties) throws SQLException {
    return DriverManager.getConnection(
        "jdbc:tollgate:embedded:" + directory + "?applicationName=contract&" + properties);
  }

  @Test
  void restartFromASnapshotKeepsTemporaryTables() throws SQLException {
    try (Connection connection = connect("")) {
      update(connection, "CREATE TEMP TABLE TT(ID INT)");
      update(connection, "INSERT INTO TT VALUES(1)");
      value(connection, "CALL take_snapshot()");
      update(connection, "INSERT INTO TT VALUES(2)");
    }
    stopNode();
    startNode();
    try (Connection connection = connect("")) {
      assertEquals(3, number(connection, "SELECT SUM(ID) FROM TT"));
      SQLException refused = fails(connection, "CREATE LOCAL TEMPORARY TABLE LT(ID INT)");
      assertEquals("HYC00", refused.getSQLState());
    }
  }

  @Test
  void restartKeepsTablesFencesLeasesAndTheTokenCounter() throws SQLException {
    long token;
    try (Connection connection = connect("")) {
      update(connection, "CREATE TABLE T(V INT) FENCED BY LOCK 'job'");
      long lease = number(connection, "SELECT create_lease(INTERVAL '1' HOUR)");
      token = number(connection, "SELECT acquire_lock('job', " + lease + ")");
      update(connection, "INSERT INTO T VALUES(1) FENCED BY LOCK 'job' TOKEN " + token);
    }
    stopNode();
    startNode();
    try (Connection connection = connect("")) {
      assertEquals(token, number(connection, "SELECT lock_token('job')"));
      assertEquals(1, update(connection, "UPDATE T SET V = 2 FENCED BY LOCK 'job' TOKEN " + token));
      assertEquals(token + 1, number(connection, "SELECT acquire_lock('other')"));
    }
  }
}
