package dev.tollgate.node;

import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;

/** A program that locks a row in a transaction, says so, and goes on until it is killed. */
final class RowHolder {
  static final String HOLDS = "holds";

  private RowHolder() {}

  /**
   * @param args the URL, and how many further connections the program has, whose sessions expire
   *     without a heartbeat every second
   */
  public static void main(String[] args) throws SQLException, IOException {
    Connection[] further = new Connection[Integer.parseInt(args[1])];
    for (int i = 0; i < further.length; i++) {
      further[i] = DriverManager.getConnection(args[0] + "?sessionTimeout=3s");
    }
    try (Connection connection = DriverManager.getConnection(args[0]);
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      statement.execute("UPDATE T SET V = V + 1");
      System.out.println(HOLDS);
      // until the process that has started this one says more, which it never does
      int said = System.in.read();
      System.out.println(said);
    } finally {
      for (Connection one : further) {
        one.close();
      }
    }
  }
}
