package dev.tollgate.migrations;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;

/**
 * A database whose client dies at a certain request, before the request or before the reply. What
 * the dead client had open ends, as its sessions do when they expire; it sends nothing more.
 */
final class MortalDatabase implements Database {
  private final Database database;
  private final String first;
  private final BiPredicate<Integer, String> fatal;
  private final boolean lastIsSent;
  private final List<Connection> open = new ArrayList<>();
  private int requests;
  private boolean dead;
  private String last = "";

  /**
   * @param first what each connection executes first, such as SET SCHEMA; empty for nothing
   * @param fatal whether the client dies at a request: its number, from 1, and the statement
   * @param lastIsSent whether the server still gets that request
   */
  MortalDatabase(
      Database database, String first, BiPredicate<Integer, String> fatal, boolean lastIsSent) {
    this.database = database;
    this.first = first;
    this.fatal = fatal;
    this.lastIsSent = lastIsSent;
  }

  boolean isDead() {
    return dead;
  }

  /** The statement at which the client died. */
  String last() {
    return last;
  }

  @Override
  public String url() {
    return database.url();
  }

  @Override
  public Connection connect(Map<String, String> properties)
      throws SQLException, MigrationException {
    Connection connection = database.connect(properties);
    if (!first.isEmpty()) {
      try (Statement statement = connection.createStatement()) {
        statement.execute(first);
      }
    }
    open.add(connection);
    return wrapped(Connection.class, connection, "");
  }

  private <T> T wrapped(Class<T> type, T real, String sql) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              String name = method.getName();
              boolean request = name.startsWith("execute") || name.equals("commit");
              String text =
                  arguments != null && arguments.length > 0 && arguments[0] instanceof String first
                      ? first
                      : sql;
              if (dead && !name.equals("close")) {
                throw new SQLException("this client is dead", "08006");
              }
              if (request && fatal.test(++requests, text)) {
                dead = true;
                last = name + " " + text;
                die(() -> method.invoke(real, arguments));
              }
              Object result = invoke(() -> method.invoke(real, arguments));
              return result instanceof PreparedStatement prepared
                  ? wrapped(PreparedStatement.class, prepared, text)
                  : result instanceof Statement statement
                      ? wrapped(Statement.class, statement, "")
                      : result;
            }));
  }

  private void die(Call request) throws Throwable {
    if (lastIsSent) {
      try {
        invoke(request);
      } catch (SQLException e) {
        // the dead do not hear of it
      }
    }
    for (Connection connection : open) {
      connection.close();
    }
    throw new SQLException("the client died", "08006");
  }

  private interface Call {
    Object run() throws ReflectiveOperationException;
  }

  private static Object invoke(Call call) throws Throwable {
    try {
      return call.run();
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
