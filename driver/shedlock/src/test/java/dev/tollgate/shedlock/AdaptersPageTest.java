package dev.tollgate.shedlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cli.JavaInPages;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program under "ShedLock" in docs/adapters.md runs, and writes once at a time. */
class AdaptersPageTest {
  private static final String CLUSTER =
      "jdbc:tollgate://127.0.0.1:7401,127.0.0.1:7402,127.0.0.1:7403/";
  private static final String URL = "jdbc:tollgate:mem:adapters-page";

  @TempDir Path directory;

  @Test
  void reportIsWrittenOnceAtATime() throws Exception {
    String page = Files.readString(Path.of("..", "..", "docs", "adapters.md"));
    String source =
        JavaInPages.blocks(page, "java").stream()
            .filter(block -> block.contains("class HourlyReport"))
            .findFirst()
            .orElseThrow();
    assertTrue(source.contains(CLUSTER));
    JavaInPages programs = new JavaInPages(directory);
    programs.compile("HourlyReport", source.replace(CLUSTER, URL));
    try (Connection connection = DriverManager.getConnection(URL);
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE report(written_at TIMESTAMP) FENCED BY LOCK 'hourly'");
      programs.run("HourlyReport");
      // lockAtLeastFor has not passed
      programs.run("HourlyReport");
      try (ResultSet count = statement.executeQuery("SELECT COUNT(*) FROM report")) {
        count.next();
        assertEquals(1, count.getInt(1));
      }
    }
  }
}
