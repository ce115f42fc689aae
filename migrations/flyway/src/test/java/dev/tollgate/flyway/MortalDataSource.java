package dev.tollgate.flyway;

import java.io.PrintWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiPredicate;
import java.util.logging.Logger;
import javax.sql.DataSource;

/**
 * Connections of a client that dies at a certain request, before the request or before the reply.
 * What the dead client had open ends, as its sessions do when they expire; it sends nothing more.
 */
final class MortalDataSource implements DataSource {
  private final DataSource database;
  private final BiPredicate<Integer, String> fatal;
  private final boolean lastIsSent;
  private final List<Connection> open = new ArrayList<>();
  private int requests;
  private boolean dead;
  private String last = "";

  /**
   * @param fatal whether the client dies at a request: its number, from 1, and the statement, or
   *     the method that has none
   * @param lastIsSent whether the server still gets that request
   */
  MortalDataSource(DataSource database, BiPredicate<Integer, String> fatal, boolean lastIsSent) {
    this.database = database;
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
  public Connection getConnection() throws SQLException {
    if (dead) {
      throw new Death(last);
    }
    Connection connection = database.getConnection();
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
              String text =
                  arguments != null && arguments.length > 0 && arguments[0] instanceof String first
                      ? first
                      : sql;
              if (dead && !name.equals("close") && !name.equals("isClosed")) {
                throw new Death(last);
              }
              if (isRequest(name, arguments)
                  && fatal.test(++requests, text.isEmpty() ? name : text)) {
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

  private static boolean isRequest(String method, Object[] arguments) {
    return method.startsWith("execute")
        || method.equals("commit")
        || (method.equals("setAutoCommit") && Boolean.TRUE.equals(arguments[0]));
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
    throw new Death(last);
  }

  /** No exception, since Flyway tries again after some. */
  static final class Death extends Error {
    private static final long serialVersionUID = 1L;

    private Death(String last) {
      super("the client died at " + last);
    }
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

  @Override
  public Connection getConnection(String user, String password) throws SQLException {
    return getConnection();
  }

  @Override
  public PrintWriter getLogWriter() throws SQLException {
    return database.getLogWriter();
  }

  @Override
  public void setLogWriter(PrintWriter out) throws SQLException {
    database.setLogWriter(out);
  }

  @Override
  public void setLoginTimeout(int seconds) throws SQLException {
    database.setLoginTimeout(seconds);
  }

  @Override
  public int getLoginTimeout() throws SQLException {
    return database.getLoginTimeout();
  }

  @Override
  public Logger getParentLogger() {
    return Logger.getGlobal();
  }

  @Override
  public <T> T unwrap(Class<T> type) throws SQLException {
    throw new SQLException("wraps nothing", "HYC00");
  }

  @Override
  public boolean isWrapperFor(Class<?> type) {
    return false;
  }
}
