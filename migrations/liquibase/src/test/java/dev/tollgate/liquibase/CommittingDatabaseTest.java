package dev.tollgate.liquibase;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.migrations.Database;
import dev.tollgate.migrations.FenceRow;
import dev.tollgate.migrations.MigrationLock;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The connection to a database that commits at each definition: H2 by itself. */
class CommittingDatabaseTest {
  @RegisterExtension final TollgateNode node = new TollgateNode();
  private final String url = "jdbc:h2:mem:" + UUID.randomUUID();

  /** The definition ends the transaction, so that a later holder need not wait for it. */
  @Test
  void laterHolderIsNoticedAfterADefinition() throws Exception {
    Database tollgate = Database.at(node.url(), Map.of(), getClass().getClassLoader());
    try (Connection other = DriverManager.getConnection(url);
        Statement later = other.createStatement();
        Connection real = DriverManager.getConnection(url);
        MigrationLock lock =
            MigrationLock.acquire(tollgate, "changes", Duration.ofSeconds(15), Duration.ZERO)) {
      FenceRow row = FenceRow.of(real, lock);
      row.prepare(real);
      real.setAutoCommit(false);
      Connection fenced = new FencedConnection(real, lock, row).connection();
      try (Statement statement = fenced.createStatement()) {
        statement.execute("CREATE TABLE one(id INT)");
        later.execute("UPDATE tollgate_fence SET token = token + 1");
        SQLException refused =
            assertThrows(SQLException.class, () -> statement.execute("CREATE TABLE two(id INT)"));
        assertEquals("23T01", refused.getSQLState());
        assertTrue(refused.getMessage().contains("a later holder"), refused.getMessage());
        assertThrows(SQLException.class, fenced::commit);
      }
    }
  }
}
