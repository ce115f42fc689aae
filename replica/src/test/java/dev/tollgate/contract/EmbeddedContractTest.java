package dev.tollgate.contract;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/**
 * The contract over {@code jdbc:tollgate:embedded:}. Every build has it over the same transport
 * without a disk ({@link InMemoryContractTest}), and with a disk over TCP ({@link
 * TcpContractTest}).
 */
@Tag("nightly")
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
}
