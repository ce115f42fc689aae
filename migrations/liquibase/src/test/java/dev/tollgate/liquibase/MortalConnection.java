package dev.tollgate.liquibase;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;

/**
 * A connection whose client dies at a certain request that changes something, or at a commit:
 * before the request or before the reply. The server ends what was open, and the client sends
 * nothing more.
 */
final class MortalConnection {
  private final Connection real;
  private final int fatal;
  private final boolean lastIsSent;
  private int requests;
  private String last = "";

  /**
   * @param fatal the number of the last request, from 1; 0 to live on
   * @param lastIsSent whether the server still gets that request
   */
  MortalConnection(Connection real, int fatal, boolean lastIsSent) {
    this.real = real;
    this.fatal = fatal;
    this.lastIsSent = lastIsSent;
  }

  boolean isDead() {
    return !last.isEmpty();
  }

  /** The request at which the client died. */
  String last() {
    return last;
  }

  Connection connection() {
    return wrapped(Connection.class, real, "");
  }

  private <T> T wrapped(Class<T> type, T target, String sql) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> answer(target, sql, method, arguments)));
  }

  private Object answer(Object target, String sql, Method method, Object[] arguments)
      throws Throwable {
    String name = method.getName();
    if (name.equals("equals")) {
      return target.equals(arguments[0]);
    }
    String text =
        arguments != null && arguments.length > 0 && arguments[0] instanceof String first
            ? first
            : sql;
    if (isDead() && !name.equals("close") && !name.equals("hashCode")) {
      throw new SQLException("this client is dead", "08006");
    }
    boolean request =
        name.equals("commit")
            || (name.startsWith("execute") && !text.toUpperCase(Locale.ROOT).startsWith("SELECT"));
    if (request && ++requests == fatal) {
      last = name + " " + text;
      die(target, method, arguments);
    }
    Object result = call(target, method, arguments);
    if (result instanceof CallableStatement call) {
      return wrapped(CallableStatement.class, call, text);
    }
    return result instanceof PreparedStatement prepared
        ? wrapped(PreparedStatement.class, prepared, text)
        : result instanceof Statement statement ? wrapped(Statement.class, statement, "") : result;
  }

  private void die(Object target, Method method, Object[] arguments) throws Throwable {
    if (lastIsSent) {
      try {
        call(target, method, arguments);
      } catch (SQLException e) {
        // the dead do not hear of it
      }
    }
    real.close();
    throw new SQLException("the client died", "08006");
  }

  private static Object call(Object target, Method method, Object[] arguments) throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
