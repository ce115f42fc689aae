package dev.tollgate.node;

import dev.tollgate.migrations.Database;
import dev.tollgate.migrations.FencedSession;
import dev.tollgate.migrations.LedgerUnit;
import dev.tollgate.migrations.MigrationException;
import dev.tollgate.migrations.MigrationLock;
import dev.tollgate.migrations.Queries;
import dev.tollgate.migrations.StatementLedger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;

/** A tool that commits at the end, and uses the ledger as the plug-ins for others do. */
final class LedgerTool implements MigrationTool {
  private static final Duration LOCK_WAIT = Duration.ofMinutes(1);

  @Override
  public void write(Path folder, List<String> statements, boolean eachByItself) throws Exception {
    Files.write(folder.resolve("cell.sql"), statements);
  }

  @Override
  public void run(Connector database, String schema, Path folder, Duration lease) throws Exception {
    Database tollgate = database.asDatabase();
    try (MigrationLock lock = MigrationLock.acquire(tollgate, lock(schema), lease, LOCK_WAIT);
        Connection connection = database.connect(FencedSession.properties(lease))) {
      FencedSession.fence(connection, lock);
      StatementLedger ledger = StatementLedger.of(connection, lock, "tool_progress");
      ledger.prepare();
      Queries queries = new Queries(connection);
      queries.execute("CREATE TABLE IF NOT EXISTS " + schema + ".tool_history(unit VARCHAR(50))");
      if (queries.ask("SELECT COUNT(*) FROM " + schema + ".tool_history").equals("1")) {
        return;
      }
      connection.setAutoCommit(false);
      LedgerUnit unit = ledger.begin("V1");
      for (String sql : Files.readAllLines(folder.resolve("cell.sql"))) {
        send(connection, unit, sql);
      }
      queries.execute("INSERT INTO " + schema + ".tool_history VALUES ('V1')");
      unit.finish();
      connection.commit();
    }
  }

  private static void send(Connection connection, LedgerUnit unit, String sql)
      throws SQLException, MigrationException {
    if (!unit.before(sql)) {
      return;
    }
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      unit.failed(e);
      throw e;
    }
    unit.after();
  }

  @Override
  public String lock(String schema) {
    return "tool:" + schema;
  }

  @Override
  public String historyQuery(String schema) {
    return "SELECT COUNT(*) FROM " + schema + ".tool_history";
  }
}
