package dev.tollgate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The method of docs/transactions.md, word for word. */
class TransactionsPageTest {
  private final String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
  @TempDir private Path directory;

  @Test
  void transferIsPipelined() throws Exception {
    String page = Files.readString(Path.of("..", "docs", "transactions.md"));
    JavaInPages programs = new JavaInPages(directory);
    programs.compile(
        "Transfer",
        "import dev.tollgate.jdbc.TollgateConnection;\nimport java.sql.*;\n"
            + "public class Transfer {\n"
            + JavaInPages.blocks(page, "java").get(0)
            + "public static void main(String[] arguments) throws Exception {\n"
            + "try (Connection connection = DriverManager.getConnection(\""
            + url
            + "\")) { transfer(connection); }\n}\n}\n");
    try (Connection keeper = DriverManager.getConnection(url);
        Statement statement = keeper.createStatement()) {
      statement.execute("CREATE TABLE account(id INT PRIMARY KEY, balance INT)");
      statement.execute("INSERT INTO account VALUES (1, 100), (2, 100)");
      programs.run("Transfer");
      try (ResultSet rows = statement.executeQuery("SELECT balance FROM account ORDER BY id")) {
        assertTrue(rows.next());
        assertEquals(90, rows.getInt(1));
        assertTrue(rows.next());
        assertEquals(110, rows.getInt(1));
      }
    }
  }
}
