package dev.tollgate.contract;

import dev.tollgate.migrations.MariadbServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@link dev.tollgate.lock.Fence} in MariaDB. Skipped where it is not installed. */
class FenceOnMariadbTest extends FenceContract {
  @RegisterExtension static final MariadbServer mariadb = new MariadbServer();

  @Override
  Connection connect() throws SQLException {
    return DriverManager.getConnection(mariadb.url());
  }

  @Override
  long waiting(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT COUNT(*) FROM information_schema.innodb_trx"
                    + " WHERE trx_state = 'LOCK WAIT'")) {
      row.next();
      return row.getLong(1);
    }
  }
}
