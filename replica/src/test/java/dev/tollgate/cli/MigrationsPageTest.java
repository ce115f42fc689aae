package dev.tollgate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tollgate.migrations.MigrationException;
import dev.tollgate.migrations.Queries;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program of docs/migrations.md, word for word but for the URLs and a word of PostgreSQL. */
class MigrationsPageTest {
  private final String tollgate = "jdbc:tollgate:mem:" + UUID.randomUUID();
  private final String shop = "jdbc:h2:mem:" + UUID.randomUUID();
  @TempDir private Path directory;

  @Test
  void programChangesTheDatabaseUnderTheLock() throws Exception {
    String page = Files.readString(Path.of("..", "docs", "migrations.md"));
    JavaInPages programs = new JavaInPages(directory);
    programs.compile(
        "AddEmail",
        JavaInPages.blocks(page, "java")
            .get(0)
            .replaceFirst("jdbc:tollgate:[^\"]*", tollgate)
            .replaceFirst("jdbc:postgresql:[^\"]*", shop)
            .replace("CONCURRENTLY ", ""));
    try (Connection keeper = DriverManager.getConnection(tollgate);
        Connection database = DriverManager.getConnection(shop)) {
      Queries queries = new Queries(database);
      queries.execute("CREATE TABLE customer(id INT, name VARCHAR(50))");
      queries.execute("INSERT INTO customer VALUES (1, 'ann')");
      programs.run("AddEmail");
      assertEquals("ann@shop.example", queries.ask("SELECT email FROM customer"));
      String index =
          "SELECT COUNT(*) FROM INFORMATION_SCHEMA.INDEXES WHERE INDEX_NAME = 'BY_EMAIL'";
      assertEquals("1", queries.ask(index));
      assertEquals("shop", queries.ask("SELECT name FROM tollgate_fence"));
      assertEquals("0", new Queries(keeper).ask("SELECT COUNT(*) FROM TOLLGATE.LOCKS"));

      queries.execute("UPDATE tollgate_fence SET token = token + 10");
      queries.execute("UPDATE customer SET email = NULL");
      Throwable stale =
          assertThrows(InvocationTargetException.class, () -> programs.run("AddEmail")).getCause();
      assertEquals(
          MigrationException.Reason.LOCK_LOST,
          assertInstanceOf(MigrationException.class, stale).reason());
      assertEquals("0", queries.ask("SELECT COUNT(email) FROM customer"));
    }
  }
}
