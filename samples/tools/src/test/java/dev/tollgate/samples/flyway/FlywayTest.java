package dev.tollgate.samples.flyway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tollgate.jdbc.TollgateDataSource;
import dev.tollgate.samples.MemoryNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Flyway needs transactions, which come with the next version: what its users see until then. */
class FlywayTest {
  @RegisterExtension final MemoryNode node = new MemoryNode();
  @TempDir Path folder;

  @Test
  void migrationEndsWithAClearErrorAndHasChangedNothing() throws Exception {
    Files.writeString(folder.resolve("V1__city.sql"), "CREATE TABLE city(id INT PRIMARY KEY);");
    TollgateDataSource cluster = new TollgateDataSource();
    cluster.setUrl(node.url());
    Flyway flyway =
        Flyway.configure()
            .dataSource(cluster)
            .locations("filesystem:" + folder)
            .failOnMissingLocations(true)
            .load();
    Throwable refused = assertThrows(RuntimeException.class, flyway::migrate);
    while (refused.getCause() != null) {
      refused = refused.getCause();
    }
    assertEquals("HYC00", ((SQLException) refused).getSQLState());
    assertEquals(
        "0", node.ask("SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_NAME = 'CITY'"));
  }
}
