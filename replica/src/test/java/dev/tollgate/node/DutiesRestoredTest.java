package dev.tollgate.node;

import static dev.tollgate.node.TestSql.one;
import static dev.tollgate.node.TestSql.run;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What nodes know of the duties of users comes back with a snapshot. */
class DutiesRestoredTest {
  @TempDir Path directory;

  @Test
  void snapshotBringsDutiesBack() throws Exception {
    String url = "jdbc:tollgate:embedded:" + directory;
    try (Connection c = DriverManager.getConnection(url)) {
      run(c, "CREATE USER ROOT PASSWORD 'root-password' ADMIN");
    }
    try (Connection c = DriverManager.getConnection(url, "ROOT", "root-password")) {
      run(c, "CREATE USER ANN PASSWORD 'ann-password'");
      run(c, "CREATE ROLE KEEPER");
      run(c, "GRANT MANAGE ON LOCKS TO KEEPER");
      run(c, "GRANT KEEPER TO ANN");
      run(c, "SELECT create_lease(6000000)");
      run(c, "CALL take_snapshot()");
    }
    try (Connection c = DriverManager.getConnection(url, "ANN", "ann-password")) {
      String lease = one(c, "SELECT MAX(LEASE_ID) FROM TOLLGATE.LEASES");
      run(c, "SELECT renew_lease(" + lease + ")");
      assertEquals(
          "1",
          one(
              c,
              "SELECT COUNT(*) FROM TOLLGATE.LEASES"
                  + " WHERE USER_NAME = 'ROOT' AND NOT CONNECTION_OWN"));
    }
  }
}
