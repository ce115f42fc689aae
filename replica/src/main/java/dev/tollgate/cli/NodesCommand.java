package dev.tollgate.cli;

import static java.util.Objects.requireNonNull;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Lists, adds and removes the nodes of a cluster, and moves its leadership; prints the nodes. */
@Command(
    name = "nodes",
    description = "Lists, adds and removes the nodes of a cluster, and moves its leadership.",
    mixinStandardHelpOptions = true)
final class NodesCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Mixin private final ClusterOptions cluster = new ClusterOptions();

  NodesCommand() {}

  @Override
  public Integer call() {
    try {
      return NodeList.print(cluster.url(), cluster.properties()) ? 0 : Main.FAILED;
    } catch (SQLException e) {
      System.err.println(SqlCommand.describe(e));
      return Main.FAILED;
    }
  }

  @Command(description = "Adds a node that was started with an empty directory.")
  int add(
      @Parameters(paramLabel = "NODE", description = "A name that was never used.") String node,
      @Parameters(paramLabel = "RAFT", description = "host:port for the other nodes.") String raft,
      @Parameters(paramLabel = "CLIENT", description = "host:port for clients.") String client) {
    return execute("CALL add_node(?, ?, ?)", node, raft, client);
  }

  @Command(description = "Removes a node, which then ends.")
  int remove(@Parameters(paramLabel = "NODE") String node) {
    return execute("CALL remove_node(?)", node);
  }

  @Command(
      description = {
        "Makes a node the leader.",
        "With --from alone, the other node that is furthest in the log."
      })
  int lead(
      @Option(
              names = "--from",
              paramLabel = "LEADER",
              description = "Do nothing unless this node is the leader, because it is to stop.")
          @Nullable String from,
      @Parameters(paramLabel = "NODE", arity = "0..1") @Nullable String node) {
    if (from == null && node == null) {
      throw new ParameterException(
          spec.commandLine(),
          "name the NODE that is to lead, or the one that is not to lead: --from LEADER");
    }
    if (from != null) {
      NodeList nodes;
      try {
        nodes = NodeList.ask(cluster.url(), cluster.properties());
      } catch (SQLException e) {
        System.err.println(SqlCommand.describe(e));
        return Main.FAILED;
      }
      if (!nodes.knows(from)) {
        System.err.println(nodes.ignorance(from));
        return Main.FAILED;
      }
      if (!nodes.leads(from)) {
        System.out.println(from + " is not the leader");
        return 0;
      }
    }
    return node == null
        ? execute("CALL resign_leadership(?)", requireNonNull(from))
        : execute("CALL transfer_leadership(?)", node);
  }

  private int execute(String sql, String... arguments) {
    try (Connection connection = cluster.connect();
        PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < arguments.length; i++) {
        statement.setString(i + 1, arguments[i]);
      }
      try (ResultSet nodes = statement.executeQuery()) {
        TextTable.of(nodes).print(System.out);
      }
      return 0;
    } catch (SQLException e) {
      System.err.println(SqlCommand.describe(e));
      return Main.FAILED;
    }
  }
}
