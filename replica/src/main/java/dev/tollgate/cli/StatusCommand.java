package dev.tollgate.cli;

import dev.tollgate.log.SkipList;
import dev.tollgate.log.peer.SealedEntries;
import dev.tollgate.log.ratis.KeysOfFiles;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Prints what the cluster knows of itself, all from the views of schema TOLLGATE, and the commands
 * that a node skips, from the node's directory.
 */
@Command(
    name = "status",
    description = "Prints the nodes, leases and locks of a cluster, or what a stopped node skips.",
    mixinStandardHelpOptions = true)
final class StatusCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(
      names = {"-u", "--url"},
      defaultValue = "${env:TOLLGATE_URL}",
      description = "jdbc:tollgate://host:port,.../ [TOLLGATE_URL]")
  private @Nullable String url;

  @Mixin private final LoginOptions login = new LoginOptions();

  @Option(
      names = "--rows",
      defaultValue = "20",
      description = "Most locks and leases to print. (default: ${DEFAULT-VALUE})")
  private int rows;

  @Option(
      names = "--data",
      description =
          "Directory of a node, running or not: prints the commands that the node leaves out, and"
              + " the data keys with which its files are encrypted.")
  private @Nullable Path data;

  StatusCommand() {}

  @Override
  public Integer call() {
    if (url == null && data == null) {
      throw new ParameterException(
          spec.commandLine(), "say which cluster with --url, or which node with --data");
    }
    try {
      if (data != null) {
        printSkips(data);
        printKeys(data);
      }
      return url == null || printCluster(url) ? 0 : Main.FAILED;
    } catch (IOException e) {
      return Main.failed("the files of the node cannot be read", e);
    } catch (SQLException e) {
      System.err.println(SqlCommand.describe(e));
      return Main.FAILED;
    }
  }

  private static void printSkips(Path data) throws IOException {
    System.out.println("Commands of the log that the node in " + data + " leaves out");
    SkipList.read(data).skips().forEach(skip -> System.out.println("  " + skip));
    System.out.println();
  }

  /** Names no files of a node that encrypts none. */
  private static void printKeys(Path data) throws IOException {
    SortedMap<Path, Set<String>> keys = KeysOfFiles.of(data);
    Set<String> all = new TreeSet<>();
    keys.values().forEach(all::addAll);
    if (all.isEmpty() || all.equals(Set.of(SealedEntries.CLEAR))) {
      return;
    }
    System.out.println("Data keys with which its files are encrypted");
    keys.forEach(
        (file, ids) ->
            System.out.println("  " + data.relativize(file) + ": " + String.join(", ", ids)));
    System.out.println();
  }

  /** False if no node leads. */
  private boolean printCluster(String url) throws SQLException {
    System.out.println("Nodes");
    boolean led = NodeList.print(url, login.properties(url));
    System.out.println();
    if (led) {
      printState(url);
    }
    return led;
  }

  private void printState(String url) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url, login.properties(url));
        Statement statement = connection.createStatement()) {
      print(
          statement,
          "Totals",
          "SELECT (SELECT COUNT(*) FROM TOLLGATE.SESSIONS) AS SESSIONS,"
              + " (SELECT COUNT(*) FROM TOLLGATE.LEASES) AS LEASES,"
              + " (SELECT COUNT(*) FROM TOLLGATE.LOCKS) AS LOCKS,"
              + " (SELECT COUNT(*) FROM TOLLGATE.LOCK_WAITERS) AS WAITERS,"
              + " (SELECT COUNT(*) FROM TOLLGATE.FENCES) AS FENCED_TABLES");
      print(
          statement,
          "Locks",
          "SELECT LOCK_NAME, LOCK_MODE, TOKEN, OWNER, HELD_SINCE, CLIENT_HOST, WAITERS"
              + " FROM TOLLGATE.LOCKS ORDER BY WAITERS DESC, LOCK_NAME FETCH FIRST "
              + rows
              + " ROWS ONLY");
      print(
          statement,
          "Leases",
          "SELECT LEASE_ID, OWNER, TTL_MS, REMAINING_MS, LOCKS_HELD, CREATED_AT"
              + " FROM TOLLGATE.LEASES ORDER BY LEASE_ID FETCH FIRST "
              + rows
              + " ROWS ONLY");
    }
  }

  private static void print(Statement statement, String title, String sql) throws SQLException {
    PrintStream out = System.out;
    out.println(title);
    try (ResultSet result = statement.executeQuery(sql)) {
      TextTable.of(result).print(out);
    }
    out.println();
  }
}
