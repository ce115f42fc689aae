package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.sql.Connection;
import java.sql.SQLException;

/** Who runs, as the tables of the runner name it: at most 200 characters each. */
record RunBy(String user, String host) {
  private static final int CHARACTERS = 200;

  RunBy {
    user = shortened(requireNonNull(user, "user"));
    host = shortened(requireNonNull(host, "host"));
  }

  /** The user of the connection, or else of this process. */
  static RunBy of(Connection connection) throws SQLException {
    String user = connection.getMetaData().getUserName();
    return new RunBy(
        user == null || user.isBlank() ? System.getProperty("user.name", "") : user, localHost());
  }

  private static String localHost() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "unknown";
    }
  }

  private static String shortened(String text) {
    return text.length() <= CHARACTERS ? text : text.substring(0, CHARACTERS);
  }
}
