package dev.tollgate.node;

import dev.tollgate.jdbc.RegistryConnections;
import dev.tollgate.transport.StoppableClient;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The script of a cell in a schema of its own, the run that something happens to, and the next. */
final class MigrationRun {
  private final MigrationCell cell;
  private final MigrationTool tool;
  private final String schema;
  private final Path folder;
  private final Duration lease;
  private final Supplier<@Nullable InetSocketAddress> leader;
  private final StoppableClient client;
  private @Nullable CompletableFuture<Void> first;
  private @Nullable Exception failure;

  MigrationRun(
      MigrationCell cell,
      MigrationTool tool,
      String schema,
      Path folder,
      Duration lease,
      Supplier<@Nullable InetSocketAddress> leader) {
    this.cell = cell;
    this.tool = tool;
    this.schema = schema;
    this.folder = folder;
    this.lease = lease;
    this.leader = leader;
    this.client = new StoppableClient(leader, stopsAt(), stop());
  }

  private String stopsAt() {
    return cell.moment() == MigrationCell.Moment.MARKED ? afterIt() : cell.kind().sql(schema);
  }

  private StoppableClient.Stop stop() {
    return switch (cell.moment()) {
      case SENT, WAITS_FOR_ROWS, WAITS_FOR_FENCE, RUNNING -> StoppableClient.Stop.BEFORE_REQUEST;
      case COMMITTED -> StoppableClient.Stop.BEFORE_REPLY;
      case ANSWERED, MARKED -> StoppableClient.Stop.BEFORE_NEXT;
    };
  }

  MigrationCell cell() {
    return cell;
  }

  String schema() {
    return schema;
  }

  String lock() {
    return tool.lock(schema);
  }

  StoppableClient client() {
    return client;
  }

  private String afterIt() {
    return "CREATE TABLE " + schema + ".after_it(id INT)";
  }

  /** Makes what the script changes, and the script. */
  void prepare(Statement statement) throws Exception {
    statement.execute("CREATE SCHEMA " + schema);
    statement.execute("CREATE TABLE " + schema + ".t(id INT PRIMARY KEY, n INT)");
    statement.execute("INSERT INTO " + schema + ".t VALUES (0, 0)");
    statement.execute("CREATE TABLE " + schema + ".done(id INT)");
    switch (cell.kind()) {
      case TRUNCATE -> statement.execute("CREATE TABLE " + schema + ".seen(id INT)");
      case CALL ->
          statement.execute(
              "CREATE TABLE "
                  + schema
                  + ".under_lock(id INT) FENCED BY LOCK 'call-"
                  + schema
                  + "'");
      case SETTING -> {
        statement.execute("CREATE TABLE " + schema + ".here(id INT)");
        statement.execute("CREATE SCHEMA other_" + schema);
        statement.execute("CREATE TABLE other_" + schema + ".here(id INT)");
      }
      default -> {}
    }
    Files.createDirectories(folder);
    tool.write(
        folder,
        List.of(
            "INSERT INTO " + schema + ".done VALUES (0)",
            cell.kind().sql(schema),
            cell.kind().next(schema),
            afterIt(),
            "INSERT INTO " + schema + ".done VALUES (2)"),
        cell.kind() == MigrationCell.Kind.ROWS_BY_THEMSELVES);
  }

  /** Begins the run, which stops at its moment. */
  void begin() {
    first = CompletableFuture.runAsync(() -> run(client, lease), MigrationRun::inThread);
  }

  private static void inThread(Runnable task) {
    Thread thread = new Thread(task, "migration-run");
    thread.setDaemon(true);
    thread.start();
  }

  private void run(StoppableClient of, Duration lockLease) {
    try {
      tool.run(properties -> connect(of, properties), schema, folder, lockLease);
    } catch (Exception e) {
      throw new CompletionException(e);
    }
  }

  private Connection connect(StoppableClient of, Map<String, String> properties)
      throws SQLException {
    Properties all = new Properties();
    all.putAll(properties);
    Connection connection =
        RegistryConnections.open(of.registry(), StoppableClient.URL + "?failoverTimeout=30s", all);
    try (Statement statement = connection.createStatement()) {
      statement.execute("SET SCHEMA " + schema);
    }
    return connection;
  }

  /** True once the run stands still; fails if it has ended before. */
  boolean isStopped() {
    if (first != null && first.isDone() && !client.stopped().isDone()) {
      first.join();
      throw new IllegalStateException(cell + " was over before its moment");
    }
    return client.stopped().isDone();
  }

  /** True once the run is over; a dead client takes no part. */
  boolean isOver() {
    return cell.end() == MigrationCell.End.KILL || (first != null && first.isDone());
  }

  /** Runs what is left, as a client to which nothing happens. */
  void runAgain() {
    try {
      run(new StoppableClient(leader, "", StoppableClient.Stop.NOWHERE), Duration.ofSeconds(15));
    } catch (CompletionException e) {
      failure = (Exception) e.getCause();
    }
  }

  /** Empty if the cell is right, or what is wrong. */
  String verdict(Asked asked) throws SQLException {
    if (failure != null) {
      return "the next run ended with " + failure;
    }
    StringBuilder wrong = new StringBuilder();
    require(wrong, asked, "1", cell.kind().once(schema));
    require(wrong, asked, "1", tool.historyQuery(schema));
    require(
        wrong,
        asked,
        cell.kind().next(schema).contains("done") ? "0 1 2" : "0 2",
        "SELECT LISTAGG(id, ' ') WITHIN GROUP (ORDER BY id) FROM " + schema + ".done");
    require(wrong, asked, "0", "SELECT COUNT(*) FROM " + schema + ".after_it");
    return wrong.toString();
  }

  /** True if the next run has said that it does not know what the first one did. */
  boolean isNotKnown() {
    return failure != null && tool.isNotKnown(failure);
  }

  /** Answers queries. */
  interface Asked {
    @Nullable String ask(String query) throws SQLException;
  }

  private static void require(StringBuilder wrong, Asked asked, String expected, String query) {
    @Nullable String answer;
    try {
      answer = asked.ask(query);
    } catch (SQLException e) {
      answer = e.getMessage();
    }
    if (!expected.equals(answer)) {
      wrong.append(query).append(" gives ").append(answer).append("; ");
    }
  }
}
