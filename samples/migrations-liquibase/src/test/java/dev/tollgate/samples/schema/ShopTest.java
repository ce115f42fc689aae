package dev.tollgate.samples.schema;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import org.junit.jupiter.api.Test;

/** The sample on a node in this JVM. */
class ShopTest {
  @Test
  void secondInstanceFindsTheTablesUpToDate() throws Exception {
    String url = "jdbc:tollgate:mem:shop";
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      Shop.bringUpToDate(url);
      Shop.bringUpToDate(url);
      try (ResultSet row =
          statement.executeQuery(
              "SELECT (SELECT COUNT(*) FROM databasechangelog), (SELECT COUNT(*) FROM customer)")) {
        row.next();
        assertEquals(3, row.getInt(1));
        assertEquals(2, row.getInt(2));
      }
    }
  }
}
