package dev.tollgate.contract;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** The contract over {@code jdbc:tollgate:mem:}. */
class InMemoryContractTest extends JdbcContract {
  private final String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
  private Connection keepsTheNode;

  @BeforeEach
  void startNode() throws SQLException {
    keepsTheNode = DriverManager.getConnection(url(""));
  }

  @AfterEach
  void stopNode() throws SQLException {
    keepsTheNode.close();
  }

  String url(String properties) {
    return url + "?applicationName=contract&" + properties;
  }

  @Override
  Connection connect(String properties) throws SQLException {
    return DriverManager.getConnection(url(properties));
  }
}
