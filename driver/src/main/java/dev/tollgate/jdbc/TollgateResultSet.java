package dev.tollgate.jdbc;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.ResultSet;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;

/**
 * H2's result of a {@link TollgateStatement}, except that it names that statement. A proxy, because
 * H2's class is final. Not thread-safe.
 */
final class TollgateResultSet extends OverH2 {
  private final Statement statement;

  private TollgateResultSet(ResultSet h2, Statement statement) {
    super(h2);
    this.statement = statement;
  }

  static ResultSet over(ResultSet h2, Statement statement) {
    return (ResultSet)
        Proxy.newProxyInstance(
            TollgateResultSet.class.getClassLoader(),
            new Class<?>[] {ResultSet.class},
            new TollgateResultSet(h2, statement));
  }

  @Override
  public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments)
      throws Throwable {
    if (method.getName().equals("getStatement")) {
      // which throws if the result is closed
      pass(method, arguments);
      return statement;
    }
    return super.invoke(proxy, method, arguments);
  }
}
