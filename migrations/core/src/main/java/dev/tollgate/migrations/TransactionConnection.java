package dev.tollgate.migrations;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;

/** A connection that cannot end the transaction of its owner. */
final class TransactionConnection implements InvocationHandler {
  private static final String INVALID_TERMINATION = "2D000";
  private static final Set<String> ENDING = Set.of("commit", "setAutoCommit", "close", "abort");

  private final Connection connection;

  private TransactionConnection(Connection connection) {
    this.connection = connection;
  }

  static Connection of(Connection connection) {
    return (Connection)
        Proxy.newProxyInstance(
            TransactionConnection.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            new TransactionConnection(connection));
  }

  @Override
  public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
    if (ends(method)) {
      throw new SQLException(
          method.getName()
              + " is not for the work in the transaction: FencedMigration commits after the work,"
              + " and rolls back if the work throws",
          INVALID_TERMINATION);
    }
    try {
      return method.invoke(connection, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  /** A rollback to a savepoint does not. */
  private static boolean ends(Method method) {
    return ENDING.contains(method.getName())
        || (method.getName().equals("rollback") && method.getParameterCount() == 0);
  }
}
