package dev.tollgate.liquibase;

import dev.tollgate.migrations.MariadbServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * On MariaDB, which commits at each definition. So each change set begins with a definition that
 * may be repeated.
 */
@Tag("nightly")
class MariadbProcessesTest extends ServerProcesses {
  @RegisterExtension static final MariadbServer mariadb = new MariadbServer();

  @Override
  String url() {
    return mariadb.url().replace("/tests", "/shop");
  }

  @Override
  Connection connectToEmpty() throws SQLException {
    Connection connection = DriverManager.getConnection(mariadb.url());
    try (Statement statement = connection.createStatement()) {
      statement.execute("DROP DATABASE IF EXISTS shop");
      statement.execute("CREATE DATABASE shop");
      statement.execute("USE shop");
    }
    return connection;
  }

  @Override
  String createTable() {
    return "CREATE TABLE IF NOT EXISTS";
  }

  @Override
  String countOfWaiting() {
    return "SELECT COUNT(*) FROM INFORMATION_SCHEMA.INNODB_TRX WHERE trx_state = 'LOCK WAIT'";
  }
}
