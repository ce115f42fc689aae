package dev.tollgate.log.ratis;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.RecordingConsumer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Nodes whose disks take as long for a sync as a follower waits for its leader, or longer. */
class SlowDiskTest {
  private static final Logger LOG = LoggerFactory.getLogger(SlowDiskTest.class);
  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final Duration POLL = Duration.ofMillis(5);
  private static final int NODES = 3;
  private static final long MOST_MILLIS = 10_000;

  @TempDir Path directory;

  private RatisNodes nodes;

  @BeforeEach
  void create() throws IOException {
    nodes = new RatisNodes(directory, NODES, RaftSettings.ELECTION_TIMEOUT);
  }

  @AfterEach
  void stop() throws IOException {
    nodes.close();
  }

  private List<Path> directories(int... which) {
    List<Path> found = new ArrayList<>();
    for (int node : which) {
      found.add(directory.resolve(nodes.id(node)));
    }
    return found;
  }

  /**
   * Each vote was two syncs, and a candidate waited for less than that: no node led in a minute.
   */
  @Test
  void leadersAreElectedWhileEachSyncTakesAQuarterOfASecond() throws Exception {
    elects(250, MOST_MILLIS);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 50, 150, 500, 1_000})
  @Tag("nightly")
  void leadersAreElectedHoweverLongEachSyncTakes(long syncMillis) throws Exception {
    elects(syncMillis, MOST_MILLIS + 20 * syncMillis);
  }

  private void elects(long syncMillis, long mostMillis) throws Exception {
    try (SlowDisk disk = new SlowDisk(directories(0, 1, 2), syncMillis)) {
      disk.slowDown();
      IntStream.range(0, NODES).parallel().forEach(this::startUnchecked);
      long began = System.nanoTime();
      int leader = awaitLeader(-1);
      long first = millisSince(began);
      nodes.append(leader, "first");
      long stopped = System.nanoTime();
      nodes.stop(leader);
      int other = awaitLeader(leader);
      long next = millisSince(stopped);
      nodes.append(other, "second");
      String times =
          String.format(
              "%d ms per sync: the first leader after %d ms, the next after %d ms, in term %d",
              syncMillis, first, next, nodes.log(other).term());
      LOG.warn("{}", times);
      assertTrue(first <= mostMillis && next <= mostMillis, times);
    }
  }

  /** The candidate's own disk does not tell how long it has to wait. */
  @Test
  void leaderIsElectedThoughOnlyTheVoterHasASlowDisk() throws Exception {
    nodes.startAll("first");
    int leader = nodes.leader();
    int slow = (leader + 1) % NODES;
    try (SlowDisk disk = new SlowDisk(directories(slow), 550)) {
      disk.slowDown();
      long began = System.nanoTime();
      nodes.stop(leader);
      int other = awaitLeader(leader);
      LOG.warn("the next leader after {} ms", millisSince(began));
      assertTrue(millisSince(began) <= MOST_MILLIS);
      nodes.append(other, "second");
    }
  }

  /** The first entry of a leader takes two syncs, of a new file and of its directory. */
  @Test
  void slowDiskIsNotTakenForOneThatHangs() throws Exception {
    try (SlowDisk disk = new SlowDisk(directories(0, 1, 2), 450)) {
      disk.slowDown();
      IntStream.range(0, NODES).parallel().forEach(this::startUnchecked);
      awaitWithoutHang(() -> nodes.leads() >= 0);
      int leader = nodes.leads();
      long term = nodes.log(leader).term();
      for (int i = 0; i < 4; i++) {
        CompletableFuture<Void> appended = nodes.log(leader).append(RatisNodes.entry("entry " + i));
        awaitWithoutHang(appended::isDone);
        appended.get();
      }
      assertEquals(term, nodes.log(leader).term());
      assertTrue(nodes.leads(leader));
    }
  }

  private void awaitWithoutHang(BooleanSupplier done) {
    await()
        .atMost(DEADLINE)
        .pollInterval(POLL)
        .until(
            () -> {
              for (int node = 0; node < NODES; node++) {
                assertEquals(0, nodes.log(node).diskHungMillis(), nodes.id(node));
              }
              return done.getAsBoolean();
            });
  }

  private static long millisSince(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - nanos);
  }

  private int awaitLeader(int stopped) {
    await().atMost(DEADLINE).pollInterval(POLL).until(() -> nodes.anotherLeads(stopped));
    return nodes.leads();
  }

  private void startUnchecked(int node) {
    try {
      nodes.start(node, new RecordingConsumer());
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
