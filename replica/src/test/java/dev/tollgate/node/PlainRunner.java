package dev.tollgate.node;

import dev.tollgate.migrations.Database;
import dev.tollgate.migrations.MigrationSettings;
import dev.tollgate.migrations.Migrations;
import dev.tollgate.migrations.Progress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** {@code tollgate migrate}. */
class PlainRunner implements MigrationTool {
  private static final Duration LOCK_WAIT = Duration.ofMinutes(1);

  @Override
  public void write(Path folder, List<String> statements, boolean eachByItself) throws Exception {
    List<String> lines = new ArrayList<>();
    if (eachByItself) {
      lines.add("-- tollgate: transaction=off");
    }
    statements.forEach(statement -> lines.add(statement + ";"));
    Files.write(folder.resolve("V1__cell.sql"), lines);
  }

  @Override
  public void run(Connector database, String schema, Path folder, Duration lease) throws Exception {
    Connector connector = properties -> wrapped(database.connect(properties));
    Database tollgate = connector.asDatabase();
    new Migrations(MigrationSettings.of(folder, tollgate).withLock(lease, LOCK_WAIT), Progress.NONE)
        .migrate();
  }

  /** A connection of a run. */
  Connection wrapped(Connection connection) {
    return connection;
  }

  @Override
  public String lock(String schema) {
    return "migrations:" + schema + ".tollgate_schema_history";
  }

  @Override
  public String historyQuery(String schema) {
    return "SELECT COUNT(*) FROM " + schema + ".tollgate_schema_history WHERE success";
  }
}
