package dev.tollgate.cli;

import dev.tollgate.core.command.Environment;
import dev.tollgate.wire.SqlState;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A new node's request to a running cluster to be added.
 *
 * @param url of the cluster
 * @param login the properties of the user as whom the request is sent
 * @param own the environment in which the new node computes
 */
record Joining(
    String url,
    Properties login,
    String nodeId,
    String raftAddress,
    String clientAddress,
    Environment own) {
  /**
   * Sends the request, and waits until the cluster has added the node.
   *
   * @throws SQLException if the cluster refuses or cannot be reached; with {@link
   *     SqlState#ADMINISTRATION} if the node may have become a member by an earlier request
   */
  void run() throws SQLException {
    try (Connection connection = DriverManager.getConnection(url, login)) {
      requireNewName(connection);
      requireSameEnvironment(connection);
      try (PreparedStatement call = connection.prepareStatement("CALL add_node(?, ?, ?)")) {
        call.setString(1, nodeId);
        call.setString(2, raftAddress);
        call.setString(3, clientAddress);
        call.execute();
      }
    }
  }

  /** A node with another environment would stop as soon as it belongs to the cluster. */
  private void requireSameEnvironment(Connection connection) throws SQLException {
    SortedMap<String, String> fingerprints = new TreeMap<>();
    String runtime = "another Java runtime";
    try (Statement query = connection.createStatement();
        ResultSet rows =
            query.executeQuery(
                "SELECT PART, CLUSTER FROM TOLLGATE.ENVIRONMENT WHERE CLUSTER IS NOT NULL")) {
      while (rows.next()) {
        if (own.fingerprints().containsKey(rows.getString(1))) {
          fingerprints.put(rows.getString(1), rows.getString(2));
        } else {
          runtime = rows.getString(2);
        }
      }
    }
    if (!fingerprints.isEmpty() && !fingerprints.equals(own.fingerprints())) {
      throw new SQLException(
          "node "
              + nodeId
              + " runs on "
              + own.runtime()
              + ", and the cluster on "
              + runtime
              + ", which differs in: "
              + String.join(", ", own.differences(new Environment(fingerprints, runtime)))
              + ". Start the node with that runtime");
    }
  }

  /**
   * Rejects the name of a member, which has had data that this node may not have. The node is that
   * member all the same if the request of an earlier start has had its effect only now.
   */
  private void requireNewName(Connection connection) throws SQLException {
    try (PreparedStatement query =
        connection.prepareStatement("SELECT 1 FROM TOLLGATE.NODES WHERE NODE_ID = ?")) {
      query.setString(1, nodeId);
      try (ResultSet member = query.executeQuery()) {
        if (member.next()) {
          throw new SQLException(
              "node "
                  + nodeId
                  + " belongs to the cluster already, which does not know the directory of this one."
                  + " If its data is lost, CALL remove_node('"
                  + nodeId
                  + "') there, and start this node under a name that was never used",
              SqlState.ADMINISTRATION.state());
        }
      }
    }
  }
}
