package dev.tollgate.flyway;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Comparator;
import java.util.UUID;
import java.util.stream.Stream;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.configuration.FluentConfiguration;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** An empty node in this JVM and an empty folder of scripts, for each test. */
final class TestNode implements BeforeEachCallback, AfterEachCallback {
  private String url = "";
  private Path folder;
  private Connection keeper;

  @Override
  public void beforeEach(ExtensionContext context) throws Exception {
    url = "jdbc:tollgate:mem:" + UUID.randomUUID();
    keeper = DriverManager.getConnection(url);
    folder = Files.createTempDirectory("scripts");
  }

  @Override
  public void afterEach(ExtensionContext context) throws Exception {
    keeper.close();
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  String url() {
    return url;
  }

  Path folder() {
    return folder;
  }

  Connection keeper() {
    return keeper;
  }

  void write(String script, String... lines) throws IOException {
    Files.writeString(folder.resolve(script), String.join("\n", lines));
  }

  FluentConfiguration configuration() {
    return Flyway.configure()
        .dataSource(url, null, null)
        .locations("filesystem:" + folder)
        .failOnMissingLocations(true)
        .cleanDisabled(false);
  }

  Flyway flyway() {
    return configuration().load();
  }

  void execute(String sql) throws SQLException {
    try (Statement statement = keeper.createStatement()) {
      statement.execute(sql);
    }
  }

  String ask(String sql) throws SQLException {
    return ask(keeper, sql);
  }

  static String ask(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      return row.next() ? row.getString(1) : "no row";
    }
  }
}
