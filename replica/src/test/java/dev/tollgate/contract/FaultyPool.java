package dev.tollgate.contract;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;

/** A data source without a pool, whose answers can be late or lost. */
final class FaultyPool {
  private final String url;
  private volatile String late = "";
  private volatile String lost = "";
  private volatile boolean aborted;
  private volatile CountDownLatch arrived = new CountDownLatch(1);
  private volatile CountDownLatch released = new CountDownLatch(1);

  FaultyPool(String url) {
    this.url = url;
  }

  /**
   * From now on answers to statements with this text are held until {@link #letGo}, whether the
   * thread is interrupted or not, or until the connection is aborted.
   */
  void holdAnswersTo(String text) {
    late = text;
  }

  /** From now on answers to statements with this text are lost: it is unknown what they did. */
  void loseAnswersTo(String text) {
    lost = text;
  }

  void awaitHeldAnswer() throws InterruptedException {
    arrived.await();
  }

  void letGo() {
    released.countDown();
  }

  DataSource dataSource() {
    return proxy(
        DataSource.class,
        (method, arguments) ->
            method.getName().equals("getConnection")
                ? connection(DriverManager.getConnection(url))
                : null);
  }

  private Connection connection(Connection real) {
    return proxy(
        Connection.class,
        (method, arguments) -> {
          Object result = call(real, method, arguments);
          if (method.getName().equals("abort")) {
            aborted = true;
            released.countDown();
          }
          return result instanceof PreparedStatement statement && arguments[0] instanceof String sql
              ? statement(statement, sql)
              : result;
        });
  }

  private PreparedStatement statement(PreparedStatement real, String sql) {
    return proxy(
        PreparedStatement.class,
        (method, arguments) -> {
          Object result = call(real, method, arguments);
          if (method.getName().equals("executeQuery")) {
            answer(sql);
          }
          return result;
        });
  }

  private void answer(String sql) throws Exception {
    if (!late.isEmpty() && sql.contains(late)) {
      arrived.countDown();
      awaitAsASocketDoes(released);
      if (aborted) {
        throw new SQLException("the connection was aborted", "08007");
      }
    }
    if (!lost.isEmpty() && sql.contains(lost)) {
      throw new SQLException("the answer is lost, on purpose", "08007");
    }
  }

  private static void awaitAsASocketDoes(CountDownLatch latch) {
    boolean interrupted = false;
    while (latch.getCount() > 0) {
      try {
        latch.await();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** What a proxy does in place of a method. */
  interface Handler {
    Object handle(Method method, Object[] arguments) throws Throwable;
  }

  static <T> T proxy(Class<T> type, Handler handler) {
    return type.cast(
        Proxy.newProxyInstance(
            FaultyPool.class.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) -> handler.handle(method, arguments)));
  }

  /** Calls a method of the real thing; throws what that throws. */
  static Object call(Object target, Method method, Object[] arguments) throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
