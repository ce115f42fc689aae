package dev.tollgate.liquibase;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.Statement;

/** A connection that does something else before a certain statement, once. */
final class InterruptedConnection {
  private final Connection real;
  private final String prefix;
  private final Interruption interruption;
  private boolean interrupted;

  interface Interruption {
    void run() throws Exception;
  }

  InterruptedConnection(Connection real, String prefix, Interruption interruption) {
    this.real = real;
    this.prefix = prefix;
    this.interruption = interruption;
  }

  Connection connection() {
    return wrapped(Connection.class, real);
  }

  private <T> T wrapped(Class<T> type, T target) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> answer(target, method, arguments)));
  }

  private Object answer(Object target, Method method, Object[] arguments) throws Throwable {
    if (!interrupted
        && method.getName().startsWith("execute")
        && arguments != null
        && arguments[0] instanceof String sql
        && sql.startsWith(prefix)) {
      interrupted = true;
      interruption.run();
    }
    try {
      Object result = method.invoke(target, arguments);
      return method.getName().equals("createStatement")
          ? wrapped(Statement.class, (Statement) result)
          : result;
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
