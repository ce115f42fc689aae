package dev.tollgate.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tollgate.cluster.Ports;
import dev.tollgate.jdbc.TollgateDriver;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.actuate.health.Status;

@Timeout(60)
class Boot3HealthTest {
  private static Health ask(String url) {
    Cluster cluster = new Cluster.OfUrl(url, new Properties(), new TollgateDriver());
    try (ClusterProbe probe = new ClusterProbe(cluster, Duration.ofSeconds(20))) {
      HealthIndicator indicator = new Boot3HealthIndicator(probe);
      return indicator.health();
    }
  }

  @Test
  void statusAndDetailsAreThoseOfTheProbe() throws SQLException {
    String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
    try (Connection keepsTheNode = DriverManager.getConnection(url)) {
      Health health = ask(keepsTheNode.getMetaData().getURL());
      assertEquals(Status.UP, health.getStatus());
      assertEquals(url, health.getDetails().get("url"));
    }
  }

  @Test
  void clusterThatDoesNotAnswerIsDown() throws Exception {
    Health health = ask("jdbc:tollgate://127.0.0.1:" + Ports.free() + "/?failoverTimeout=200ms");
    assertEquals(Status.DOWN, health.getStatus());
    assertEquals(Set.of("url", "error"), health.getDetails().keySet());
  }
}
