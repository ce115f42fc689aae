package dev.tollgate.contract;

import static dev.tollgate.contract.ContractClients.fails;
import static dev.tollgate.contract.ContractClients.number;
import static dev.tollgate.contract.ContractClients.update;
import static dev.tollgate.contract.ContractClients.value;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a restart keeps with {@code jdbc:tollgate:embedded:}: the last connection ends the node. */
class EmbeddedRestartTest {
  @TempDir private Path directory;

  private Connection connect() throws SQLException {
    return DriverManager.getConnection("jdbc:tollgate:embedded:" + directory);
  }

  @Test
  void restartFromASnapshotKeepsTemporaryTables() throws SQLException {
    try (Connection connection = connect()) {
      update(connection, "CREATE TEMP TABLE TT(ID INT)");
      update(connection, "INSERT INTO TT VALUES(1)");
      value(connection, "CALL take_snapshot()");
      update(connection, "INSERT INTO TT VALUES(2)");
    }
    try (Connection connection = connect()) {
      assertEquals(3, number(connection, "SELECT SUM(ID) FROM TT"));
      SQLException refused = fails(connection, "CREATE LOCAL TEMPORARY TABLE LT(ID INT)");
      assertEquals("HYC00", refused.getSQLState());
    }
  }

  @Test
  void restartKeepsTablesFencesLeasesAndTheTokenCounter() throws SQLException {
    long token;
    try (Connection connection = connect()) {
      update(connection, "CREATE TABLE T(V INT) FENCED BY LOCK 'job'");
      long lease = number(connection, "SELECT create_lease(INTERVAL '1' HOUR)");
      token = number(connection, "SELECT acquire_lock('job', " + lease + ")");
      update(connection, "INSERT INTO T VALUES(1) FENCED BY LOCK 'job' TOKEN " + token);
    }
    try (Connection connection = connect()) {
      assertEquals(token, number(connection, "SELECT lock_token('job')"));
      assertEquals(1, update(connection, "UPDATE T SET V = 2 FENCED BY LOCK 'job' TOKEN " + token));
      assertEquals(token + 1, number(connection, "SELECT acquire_lock('other')"));
    }
  }
}
