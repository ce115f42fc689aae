package dev.tollgate.cli;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** The cluster to which a command connects, and the user as whom it does. */
final class ClusterOptions {
  @Option(
      names = {"-u", "--url"},
      required = true,
      scope = ScopeType.INHERIT,
      defaultValue = "${env:TOLLGATE_URL}",
      description = "jdbc:tollgate://host:port,.../ [TOLLGATE_URL]")
  private String url;

  @Mixin private final LoginOptions login = new LoginOptions();

  ClusterOptions() {}

  String url() {
    return url;
  }

  /** See {@link LoginOptions#properties}. */
  Properties properties() {
    return login.properties(url);
  }

  Connection connect() throws SQLException {
    return DriverManager.getConnection(url, properties());
  }
}
