package dev.tollgate.cli;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * A new node's request to a running cluster to be added.
 *
 * @param url of the cluster
 */
record Joining(String url, String nodeId, String raftAddress, String clientAddress) {
  /**
   * Asks, and waits until the node has been added.
   *
   * @throws SQLException if the cluster refuses or cannot be reached
   */
  void run() throws SQLException {
    try (Connection connection = DriverManager.getConnection(url)) {
      requireNewName(connection);
      try (PreparedStatement call = connection.prepareStatement("CALL add_node(?, ?, ?)")) {
        call.setString(1, nodeId);
        call.setString(2, raftAddress);
        call.setString(3, clientAddress);
        call.execute();
      }
    }
  }

  /** This node has nothing: one of its name that belongs to the cluster has had something. */
  private void requireNewName(Connection connection) throws SQLException {
    try (PreparedStatement query =
        connection.prepareStatement("SELECT 1 FROM TOLLGATE.NODES WHERE NODE_ID = ?")) {
      query.setString(1, nodeId);
      try (ResultSet member = query.executeQuery()) {
        if (member.next()) {
          throw new SQLException(
              "node "
                  + nodeId
                  + " belongs to the cluster already, but the directory of this one is empty. If its"
                  + " data is lost, CALL remove_node('"
                  + nodeId
                  + "') there, and start this node under a name that was never used");
        }
      }
    }
  }
}
