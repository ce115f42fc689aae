package dev.tollgate.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.Map;
import org.h2.jdbc.JdbcResultSet;
import org.h2.result.SimpleResult;
import org.h2.value.TypeInfo;
import org.h2.value.ValueInteger;
import org.h2.value.ValueVarchar;
import org.jspecify.annotations.Nullable;

/**
 * H2's metadata of the database, except for the answers about this driver. H2's class is final and
 * has 180 methods, of which eleven change: hence a proxy.
 */
final class TollgateMetaData implements InvocationHandler {
  private static final int MAX_CLIENT_INFO_CHARS = 255;

  private final DatabaseMetaData h2;
  private final TollgateConnection connection;
  private final Map<String, Object> answers;

  private TollgateMetaData(DatabaseMetaData h2, TollgateConnection connection, String productName) {
    this.h2 = h2;
    this.connection = connection;
    this.answers =
        Map.of(
            "getDatabaseProductName",
            productName,
            "getDriverName",
            DriverVersion.NAME,
            "getDriverVersion",
            DriverVersion.TEXT,
            "getDriverMajorVersion",
            DriverVersion.MAJOR,
            "getDriverMinorVersion",
            DriverVersion.MINOR);
  }

  static DatabaseMetaData over(
      DatabaseMetaData h2, TollgateConnection connection, String productName) {
    return (DatabaseMetaData)
        Proxy.newProxyInstance(
            TollgateMetaData.class.getClassLoader(),
            new Class<?>[] {DatabaseMetaData.class},
            new TollgateMetaData(h2, connection, productName));
  }

  @Override
  public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments)
      throws Throwable {
    String name = method.getName();
    Object first = arguments == null || arguments.length == 0 ? null : arguments[0];
    Object answer = answers.get(name);
    if (answer != null) {
      return answer;
    }
    return switch (name) {
      case "supportsTransactionIsolationLevel" ->
          Integer.valueOf(Connection.TRANSACTION_READ_COMMITTED).equals(first)
              || Integer.valueOf(Connection.TRANSACTION_SERIALIZABLE).equals(first);
      case "getClientInfoProperties" -> clientInfoProperties();
      case "getUserName" -> connection.userName();
      case "isWrapperFor" ->
          first instanceof Class<?> type && (type.isInstance(proxy) || h2.isWrapperFor(type));
      case "unwrap" ->
          first instanceof Class<?> type && type.isInstance(proxy)
              ? proxy
              : h2.unwrap((Class<?>) first);
      case "equals" -> proxy == first;
      default -> delegate(method, arguments);
    };
  }

  private @Nullable Object delegate(Method method, Object @Nullable [] arguments) throws Throwable {
    try {
      return method.invoke(h2, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause() == null ? e : e.getCause();
    }
  }

  private JdbcResultSet clientInfoProperties() throws SQLException {
    SimpleResult result = new SimpleResult();
    result.addColumn("NAME", TypeInfo.TYPE_VARCHAR);
    result.addColumn("MAX_LEN", TypeInfo.TYPE_INTEGER);
    result.addColumn("DEFAULT_VALUE", TypeInfo.TYPE_VARCHAR);
    result.addColumn("DESCRIPTION", TypeInfo.TYPE_VARCHAR);
    TollgateConnection.CLIENT_INFO_NAMES.stream()
        .sorted()
        .forEach(
            name ->
                result.addRow(
                    ValueVarchar.get(name),
                    ValueInteger.get(MAX_CLIENT_INFO_CHARS),
                    ValueVarchar.EMPTY,
                    ValueVarchar.get("Kept by the connection")));
    return new JdbcResultSet(connection, null, null, result, -1, true, false, false);
  }
}
