package dev.tollgate.cluster;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * How long two terms of an election are led at once, whatever ends the first: 20 candidates in five
 * processes, three nodes in processes of their own. A process that stands still believes nothing
 * until it goes on. {@code OverlapTest} measures more terms in one process.
 */
@Tag("nightly")
@Timeout(600)
class ElectionLossIT {
  private static final String ELECTION = "chief";
  private static final int PROCESSES = 5;
  private static final int CANDIDATES = 4;
  private static final Duration TTL = Duration.ofSeconds(5);

  /** Longer than nodes take to start, so that leaders of the former cluster have proof left. */
  private static final Duration LONG_TTL = Duration.ofMinutes(2);

  private static final int ROUNDS = Integer.getInteger("overlap.rounds", 5);

  /** Five processes that start at once on a busy machine take long. */
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  /** What the documentation promises. */
  private static final int BOUND_PART = 10;

  private static final Comparator<Beliefs.Belief> BY_TOKEN =
      Comparator.comparingLong(Beliefs.Belief::token);

  @TempDir Path directory;
  private ClusterProcesses cluster;
  private final List<Electorate> electorates = new ArrayList<>();
  private final Map<Long, String> lossByToken = new TreeMap<>();

  /** A process with candidates, all of whose connections go through a relay. */
  private final class Electorate implements AutoCloseable {
    private final String name;
    private final Duration ttl;
    private final boolean deaf;
    private final Beliefs beliefs;
    private final int port = Ports.free();
    private final Relay relay = Relay.ofSocks(port);
    private CandidateProcess process;

    Electorate(String name, Duration ttl, boolean deaf) throws IOException {
      this.name = name;
      this.ttl = ttl;
      this.deaf = deaf;
      this.beliefs = new Beliefs(beliefs());
      start();
    }

    private Path beliefs() {
      return directory.resolve(name + ".beliefs");
    }

    void start() throws IOException {
      process =
          new CandidateProcess(
              BelievingCandidates.class,
              directory.resolve(name + ".out"),
              List.of(
                  "-DsocksProxyHost=127.0.0.1",
                  "-DsocksProxyPort=" + port,
                  "-DsocksNonProxyHosts="),
              cluster.url("failoverTimeout=40s"),
              ELECTION,
              name,
              Integer.toString(CANDIDATES),
              Long.toString(ttl.toMillis()),
              beliefs().toString(),
              Boolean.toString(deaf));
    }

    @Override
    public void close() throws IOException {
      process.close();
      relay.close();
    }
  }

  /** How a term ends, or does not. */
  private enum Loss {
    FORCED {
      @Override
      void happen(ElectionLossIT test, Electorate leading) throws Exception {
        test.number("SELECT force_release_lock('chief')");
      }
    },
    TRANSFERRED {
      @Override
      void happen(ElectionLossIT test, Electorate leading) throws Exception {
        long other = test.number("SELECT create_lease(2000)");
        test.number("SELECT transfer_lock('chief', " + test.lease() + ", " + other + ")");
      }
    },
    REVOKED {
      @Override
      void happen(ElectionLossIT test, Electorate leading) throws Exception {
        test.number("SELECT revoke_lease(" + test.lease() + ")");
      }
    },
    FORCED_AS_THE_LEADER_OF_THE_CLUSTER_DIES {
      @Override
      void happen(ElectionLossIT test, Electorate leading) throws Exception {
        NodeProcess leader = test.cluster.leader();
        FORCED.happen(test, leading);
        leader.kill();
      }
    },
    PAUSED_BRIEFLY {
      @Override
      void happen(ElectionLossIT test, Electorate leading) throws Exception {
        leading.process.pause();
        await().pollDelay(TTL.dividedBy(4)).atMost(TTL).until(() -> true);
        leading.process.resume();
        FORCED.happen(test, leading);
      }
    },
    PAUSED_BEYOND_THE_LEASE {
      @Override
      void happen(ElectionLossIT test, Electorate leading) throws Exception {
        leading.process.pause();
      }

      @Override
      void end(Electorate former) throws Exception {
        former.process.resume();
      }
    },
    CUT_OFF {
      @Override
      void happen(ElectionLossIT test, Electorate leading) {
        leading.relay.cut();
      }

      @Override
      void end(Electorate former) throws Exception {
        former.relay.mend();
      }
    },
    KILLED {
      @Override
      void happen(ElectionLossIT test, Electorate leading) throws Exception {
        leading.process.kill();
      }

      @Override
      void end(Electorate former) throws Exception {
        former.start();
      }
    };

    abstract void happen(ElectionLossIT test, Electorate leading) throws Exception;

    /** After the next leader was elected. */
    void end(Electorate former) throws Exception {}
  }

  @BeforeEach
  void startCluster() throws Exception {
    cluster = new ClusterProcesses("ElectionLossIT", directory, 3);
  }

  @AfterEach
  void stop() throws Exception {
    for (Electorate each : electorates) {
      each.close();
    }
    cluster.close();
  }

  private void stand(String name, Duration ttl, boolean deaf) throws IOException {
    for (int i = 0; i < PROCESSES; i++) {
      electorates.add(new Electorate(name + i, ttl, deaf));
    }
  }

  private long number(String sql) throws SQLException {
    try (Connection connection = cluster.connect("failoverTimeout=40s");
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getLong(1);
    }
  }

  /** The lease of the leader. */
  private long lease() throws SQLException {
    return number("SELECT LEASE_ID FROM TOLLGATE.LOCKS WHERE LOCK_NAME = '" + ELECTION + "'");
  }

  private List<Beliefs.Belief> terms() {
    return electorates.stream().flatMap(e -> e.beliefs.all().stream()).sorted(BY_TOKEN).toList();
  }

  private static boolean has(Electorate electorate, long token) {
    return electorate.beliefs.all().stream().anyMatch(term -> term.token() == token);
  }

  /** The last term, once there is one after this token. */
  private long awaitTermAfter(long token) {
    return await()
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(5))
        .until(
            () -> terms().stream().mapToLong(Beliefs.Belief::token).max().orElse(0),
            last -> last > token);
  }

  /** Waits until nobody has believed for a while to lead before this term. */
  private void awaitOneLeader(long token, Duration ttl) {
    await()
        .atMost(ClusterProcesses.DEADLINE)
        .until(
            () ->
                terms().stream()
                    .filter(term -> term.token() < token)
                    .allMatch(term -> System.nanoTime() - term.lastNanos() > ttl.toNanos() / 4));
  }

  private void lose(Loss loss) throws Exception {
    long token = awaitTermAfter(0);
    Electorate leading =
        electorates.stream().filter(each -> has(each, token)).findFirst().orElseThrow();
    lossByToken.put(token, loss.name());
    loss.happen(this, leading);
    long next = awaitTermAfter(token);
    loss.end(leading);
    awaitOneLeader(next, TTL);
    cluster.startAll();
  }

  /** The longest time for which a term was led while a later one was, by the loss of the term. */
  private Map<String, Duration> overlaps() {
    Map<String, Duration> longest = new TreeMap<>();
    List<Beliefs.Belief> terms = terms();
    for (int i = 0; i + 1 < terms.size(); i++) {
      Beliefs.Belief former = terms.get(i);
      long nanos =
          terms.subList(i + 1, terms.size()).stream()
              .mapToLong(former::overlapNanos)
              .max()
              .orElseThrow();
      longest.merge(
          lossByToken.getOrDefault(former.token(), "BY ITSELF"),
          Duration.ofNanos(Math.max(0, nanos)),
          (a, b) -> a.compareTo(b) > 0 ? a : b);
    }
    System.out.println(terms.size() + " terms, longest overlaps: " + longest);
    return longest;
  }

  private void assertNoOverlapBeyondTheBound(Duration ttl) {
    Map<String, Duration> overlaps = overlaps();
    Duration bound = ttl.dividedBy(BOUND_PART);
    overlaps.forEach(
        (loss, overlap) ->
            assertTrue(overlap.compareTo(bound) <= 0, loss + ": two led for " + overlap));
  }

  @Test
  void noLossLeavesTwoLeadersForMoreThanATenthOfTheTtl() throws Exception {
    stand("p", TTL, /* deaf= */ false);
    for (int round = 0; round < ROUNDS; round++) {
      for (Loss loss : Loss.values()) {
        lose(loss);
      }
    }
    assertNoOverlapBeyondTheBound(TTL);
  }

  @Test
  void candidateThatDoesNotListenIsFound() throws Exception {
    stand("p", TTL, /* deaf= */ true);
    lose(Loss.FORCED);
    assertTrue(overlaps().get(Loss.FORCED.name()).compareTo(TTL.dividedBy(BOUND_PART)) > 0);
  }

  /**
   * The candidates of the former cluster go on, and candidates of the new one stand as soon as it
   * serves clients.
   *
   * @param held whether the backup has a leader; otherwise the new cluster elects one at once
   */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void restoredClusterLeavesTwoLeadersForNoMoreThanATenthOfTheTtl(boolean held) throws Exception {
    // a leader of the backup keeps the others waiting for a whole ttl
    Duration ttl = held ? TTL.multipliedBy(3) : LONG_TTL;
    Path restored = directory.resolve("restored");
    if (!held) {
      backUpInto(restored);
    }
    stand("former", ttl, /* deaf= */ false);
    awaitTermAfter(0);
    if (held) {
      backUpInto(restored);
    }
    number("SELECT force_release_lock('chief')");
    long former = awaitTermAfter(terms().get(0).token());
    lossByToken.put(former, "RESTORED");
    cluster.replaceBy(restored);
    stand("next", ttl, /* deaf= */ false);
    long next = awaitTermAfter(former);
    awaitOneLeader(next, ttl);
    assertNoOverlapBeyondTheBound(ttl);
  }

  /** Makes directories for the nodes of a new cluster. */
  private void backUpInto(Path restored) throws Exception {
    Path file = directory.resolve("backup");
    Program backup = Program.run("backup", "-u", cluster.url(""), file.toString());
    assertEquals(0, backup.status(), backup.err());
    for (NodeProcess node : cluster.nodes()) {
      Program restore =
          Program.run("restore", file.toString(), "--data=" + restored.resolve(node.id()));
      assertEquals(0, restore.status(), restore.err());
    }
  }
}
