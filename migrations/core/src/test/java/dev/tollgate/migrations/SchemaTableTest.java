package dev.tollgate.migrations;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The default name of a lock has one spelling if the table has one. */
class SchemaTableTest {
  @ParameterizedTest
  @CsvSource({"true, false, s.hist", "false, true, s.hist", "false, false, s.Hist"})
  void nameHasOneSpellingWhereTheDatabaseFoldsIt(boolean lower, boolean upper, String path)
      throws Exception {
    DatabaseMetaData meta =
        proxy(
            DatabaseMetaData.class,
            Map.of(
                "storesLowerCaseIdentifiers", lower,
                "storesUpperCaseIdentifiers", upper,
                "getIdentifierQuoteString", "\""));
    Connection connection = proxy(Connection.class, Map.of("getMetaData", meta, "getSchema", "s"));
    assertEquals(path, SchemaTable.of(connection, "Hist").path());
  }

  private static <T> T proxy(Class<T> type, Map<String, Object> answers) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              @Nullable Object answer = answers.get(method.getName());
              return answer;
            }));
  }
}
