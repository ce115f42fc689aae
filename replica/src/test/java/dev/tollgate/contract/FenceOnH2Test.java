package dev.tollgate.contract;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;

/** {@link dev.tollgate.lock.Fence} in H2, where a definition commits. */
class FenceOnH2Test extends FenceContract {
  private final String url =
      "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=30000";

  @Override
  Connection connect() throws SQLException {
    return DriverManager.getConnection(url);
  }

  /** An INSERT whose key another transaction has inserted waits without a blocker. */
  @Override
  long waiting(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT COUNT(*) FROM INFORMATION_SCHEMA.SESSIONS"
                    + " WHERE BLOCKER_ID IS NOT NULL OR EXECUTING_STATEMENT LIKE 'INSERT %'")) {
      row.next();
      return row.getLong(1);
    }
  }
}
