package dev.tollgate.shedlock;

import dev.tollgate.cluster.ClusterProcesses;
import dev.tollgate.cluster.NodeProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The provider on three processes, whose leader is killed again and again. */
@Tag("nightly")
@Timeout(600)
class ClusterProviderTest extends LockProviderContract {
  private static final int KILLS = 5;

  @TempDir static Path directory;
  private ClusterProcesses cluster;
  private CompletableFuture<String> returning = CompletableFuture.completedFuture("");

  @BeforeAll
  void start() throws Exception {
    cluster = new ClusterProcesses("ClusterProviderTest", directory, 3);
  }

  @Override
  @AfterAll
  void stop() {
    cluster.close();
  }

  @Override
  String url() {
    return cluster.url("");
  }

  @Override
  void disturb() {
    try {
      returning.get(60, TimeUnit.SECONDS);
      NodeProcess leader = cluster.leader();
      leader.kill();
      returning = leader.start();
    } catch (Exception e) {
      throw new IllegalStateException("the leader was not replaced, see target/node-logs", e);
    }
  }

  @Test
  void countersLoseNothingWhileLeadersAreKilled() throws Exception {
    ExecutorService executor = Executors.newSingleThreadExecutor();
    try {
      Future<?> race =
          executor.submit(
              () -> {
                new CounterRace(this::url, Duration.ZERO).run(8, 1_000);
                return null;
              });
      for (int i = 0; i < KILLS && !race.isDone(); i++) {
        disturb();
      }
      race.get();
    } finally {
      executor.shutdownNow();
    }
  }
}
