package dev.tollgate.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cluster.Ports;
import dev.tollgate.jdbc.TollgateDriver;
import dev.tollgate.lock.LockClient;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ClusterProbeTest {
  private static Cluster at(String url) {
    return new Cluster.OfUrl(url, new Properties(), new TollgateDriver());
  }

  @Test
  void showsTheLeaderAndTheUrlWithoutItsProperties() throws SQLException {
    String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
    try (Connection keepsTheNode = DriverManager.getConnection(url);
        ClusterProbe probe =
            new ClusterProbe(at(url + "?user=ann&password=secret"), Duration.ofSeconds(10))) {
      assertFalse(keepsTheNode.isClosed());
      ClusterProbe.Finding finding = probe.ask();
      assertTrue(finding.isUp(), finding.toString());
      assertEquals(url, finding.details().get("url"));
      assertFalse(String.valueOf(finding.details().get("leader")).isEmpty());
      assertFalse(finding.toString().contains("secret"), finding.toString());
    }
  }

  @Test
  void isDownWithAdviceIfNoNodeAnswers() throws Exception {
    String url = "jdbc:tollgate://127.0.0.1:" + Ports.free() + "/";
    try (ClusterProbe probe =
        new ClusterProbe(
            at(url + "?failoverTimeout=200ms&password=secret"), Duration.ofSeconds(20))) {
      ClusterProbe.Finding finding = probe.ask();
      assertFalse(finding.isUp());
      assertEquals(url, finding.details().get("url"));
      String error = String.valueOf(finding.details().get("error"));
      assertTrue(error.contains("Check that the nodes run"), error);
      assertFalse(error.contains("secret"), error);
    }
  }

  /** A pool that lends no connection, and callers that are more than may wait. */
  @Test
  void neverWaitsForLongerThanItsTimeout() throws Exception {
    CountDownLatch stuck = new CountDownLatch(1);
    Cluster silent =
        new Cluster() {
          @Override
          public LockClient newLockClient() {
            throw new IllegalStateException();
          }

          @Override
          public Connection open() throws SQLException {
            try {
              stuck.await();
            } catch (InterruptedException e) {
              throw new SQLException("closed", e);
            }
            throw new SQLException("too late");
          }
        };
    ExecutorService callers = Executors.newFixedThreadPool(20);
    try (ClusterProbe probe = new ClusterProbe(silent, Duration.ofMillis(300))) {
      List<Callable<ClusterProbe.Finding>> calls =
          IntStream.range(0, 20).<Callable<ClusterProbe.Finding>>mapToObj(i -> probe::ask).toList();
      long begin = System.nanoTime();
      List<Future<ClusterProbe.Finding>> findings = callers.invokeAll(calls);
      assertTrue(Duration.ofNanos(System.nanoTime() - begin).toSeconds() < 10);
      Map<String, Long> errors =
          findings.stream()
              .map(ClusterProbeTest::error)
              .collect(
                  Collectors.groupingBy(error -> error.split(" ", 2)[0], Collectors.counting()));
      assertEquals(Map.of("No", 17L, "16", 3L), errors);
      // those that left made room
      assertTrue(error(callers.submit(probe::ask)).startsWith("No"));
    } finally {
      callers.shutdownNow();
      stuck.countDown();
    }
  }

  private static String error(Future<ClusterProbe.Finding> finding) {
    try {
      assertFalse(finding.get().isUp());
      return String.valueOf(finding.get().details().get("error"));
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
