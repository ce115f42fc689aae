package dev.tollgate.log.ratis;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.tollgate.cluster.Ports;
import dev.tollgate.core.command.Command;
import dev.tollgate.log.LogStatus;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.RecordingConsumer;
import dev.tollgate.log.peer.PeerTransport;
import dev.tollgate.log.peer.WayTo;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SortedMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A follower restarts, and the leader dies a moment later. The two nodes that are left lead, soon,
 * whatever connections they have.
 */
class TwoNodesLeadTest {
  private static final Logger LOG = LoggerFactory.getLogger(TwoNodesLeadTest.class);
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  private static final int MOST_LATE_MILLIS = 600;

  /** A silent connection is given up after a second without an answer. */
  private static final long SILENT_MILLIS = 2_000;

  @TempDir Path directory;

  private final List<WayTo> ways = new ArrayList<>();
  private final List<Long> millis = new ArrayList<>();
  private RatisNodes nodes;
  private int entries;

  /** How the leader dies. */
  private enum Death {
    PROCESS,
    MACHINE
  }

  /** What becomes of a node's connection to the other one that stays. */
  private enum Connection {
    STAYS,
    BREAKS_WITH_THE_LEADER,
    FALLS_SILENT_BEFORE
  }

  @BeforeEach
  void start() throws Exception {
    SortedMap<String, String> addresses = Ports.peers(3);
    SortedMap<String, String> listening = Ports.peers(3);
    for (String id : addresses.keySet()) {
      ways.add(new WayTo(addresses.get(id), listening.get(id)));
    }
    nodes = new RatisNodes(directory, addresses, listening, RaftSettings.ELECTION_TIMEOUT);
    nodes.startAll("first");
  }

  @AfterEach
  void stop() throws IOException {
    nodes.close();
    for (WayTo way : ways) {
      way.close();
    }
  }

  /** Or they would have to connect during the election. */
  @Test
  void areConnectedBeforeTheyNeedIt() throws Exception {
    int leader = nodes.leader();
    int one = (leader + 1) % 3;
    int other = (leader + 2) % 3;
    await().atMost(DEADLINE).until(() -> isConnected(one, other) && isConnected(other, one));
  }

  private boolean isConnected(int from, int to) throws Exception {
    PeerTransport transport = (PeerTransport) RatisLogTest.serverOf(nodes.log(from)).getServerRpc();
    return transport.isConnected(nodes.id(to));
  }

  /**
   * One has the last entries of the leader, and applies nothing. The other has applied its log, and
   * is elected by nobody before it has these entries.
   */
  @Test
  void nodeThatIsBehindLeadsUntilTheOtherHasItsEntries() throws Exception {
    int leader = nodes.leader();
    int behind = (leader + 1) % 3;
    int lacking = (leader + 2) % 3;
    RecordingConsumer applies = nodes.consumer(behind);
    CountDownLatch hold = new CountDownLatch(1);
    applies.holdApply = hold;
    try {
      for (int i = 0; i < LogStatus.CAUGHT_UP_ENTRIES + 2; i++) {
        nodes.append(leader, "entry " + entries++);
      }
      String before = "entry " + entries++;
      nodes.append(leader, before);
      RecordingConsumer serves = nodes.consumer(lacking);
      await().atMost(DEADLINE).until(() -> serves.commands.contains(RatisNodes.command(before)));
      ways.get(lacking).endMachine(nodes.id(leader));
      String last = "entry " + entries++;
      nodes.append(leader, last);
      ways.get(leader).endProcess();
      ways.get(behind).endProcess(nodes.id(leader));
      ways.get(lacking).endProcess(nodes.id(leader));
      await().atMost(DEADLINE).until(() -> nodes.leads(lacking));
      await().atMost(DEADLINE).until(() -> serves.commands.contains(RatisNodes.command(last)));
      assertFalse(applies.commands.contains(RatisNodes.command(before)), "it applies nothing");
    } finally {
      hold.countDown();
    }
  }

  @Test
  void leadWhateverConnectionsTheyHave() throws Exception {
    check(8, 1_500, 5_000);
  }

  @Test
  @Tag("nightly")
  void leadAtEveryMomentOfHalfAMinute() throws Exception {
    check(30, 30_000, 2_000);
  }

  /**
   * @param mostMillis without a leader, more than what it takes on a machine that is idle
   */
  private void check(int rounds, int longestMillis, long mostMillis) throws Exception {
    long seed = Long.getLong("tollgate.seed", System.nanoTime());
    LOG.warn("TwoNodesLeadTest: -Dtollgate.seed={}", seed);
    Random random = new Random(seed);
    for (int i = 0; i < rounds; i++) {
      boolean behind = (i & 1) != 0;
      boolean lacking = (i & 2) != 0;
      int part = longestMillis / rounds;
      millis.add(round(random, i * part + random.nextInt(part), behind, lacking));
    }
    Collections.sort(millis);
    LOG.warn("milliseconds without a leader: {}", millis);
    List<Long> late = millis.stream().filter(time -> time > mostMillis).toList();
    assertEquals(List.of(), late, "milliseconds without a leader, with the seed " + seed);
  }

  /**
   * Returns for how long no node led.
   *
   * @param afterMillis when the leader dies after the restart of a follower has begun
   * @param behind whether the node that restarts applies nothing
   * @param lacking whether the other node that stays lacks the last entries
   */
  private long round(Random random, int afterMillis, boolean behind, boolean lacking)
      throws Exception {
    int leader = nodes.leader();
    int restarts = (leader + 1 + random.nextInt(2)) % 3;
    int stays = 3 - leader - restarts;
    Death death = choose(random, Death.values());
    Connection there = choose(random, Connection.values());
    Connection back = choose(random, Connection.values());
    long thereMillis = random.nextInt(MOST_LATE_MILLIS);
    long backMillis = random.nextInt(MOST_LATE_MILLIS);

    String scene =
        String.format(
            "%s led, %s had restarted %d ms before%s; %s%s; %s to %s %s, then %d ms late; back %s,"
                + " then %d ms late",
            nodes.id(leader),
            nodes.id(restarts),
            afterMillis,
            behind ? " and applies nothing" : "",
            death,
            lacking ? ", " + nodes.id(stays) + " lacks entries" : "",
            nodes.id(stays),
            nodes.id(restarts),
            there,
            thereMillis,
            back,
            backMillis);
    ways.get(restarts).endProcess();
    nodes.stop(restarts);
    for (int i = 0; i < 100; i++) {
      nodes.append(leader, "entry " + entries++);
    }
    ways.get(restarts).delay(nodes.id(stays), thereMillis);
    ways.get(stays).delay(nodes.id(restarts), backMillis);
    RecordingConsumer applies = new RecordingConsumer();
    CountDownLatch hold = new CountDownLatch(1);
    if (behind) {
      applies.holdApply = hold;
    }
    ways.get(restarts).open();
    long began = System.nanoTime();
    nodes.start(restarts, applies);
    write(leader, began, afterMillis - SILENT_MILLIS);
    silence(stays, restarts, there);
    silence(restarts, stays, back);
    write(leader, began, afterMillis);
    if (lacking) {
      ways.get(stays).endMachine(nodes.id(leader));
      for (int i = 0; i < 3; i++) {
        nodes.log(leader).append(RatisNodes.entry("entry " + entries++));
        TimeUnit.MILLISECONDS.sleep(20);
      }
    }
    breakOff(stays, restarts, there);
    breakOff(restarts, stays, back);
    if (death == Death.PROCESS) {
      ways.get(leader).endProcess();
    } else {
      ways.get(leader).endMachine();
    }
    for (int other : new int[] {stays, restarts}) {
      if (death == Death.PROCESS) {
        ways.get(other).endProcess(nodes.id(leader));
      } else {
        ways.get(other).endMachine(nodes.id(leader));
      }
    }
    long died = System.nanoTime();
    try {
      await(scene)
          .atMost(DEADLINE)
          .pollInterval(Duration.ofMillis(2))
          .until(() -> nodes.leads(stays) || nodes.leads(restarts));
    } finally {
      hold.countDown();
    }
    long took = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - died);
    LOG.warn("{} ms without a leader: {}", took, scene);
    heal(leader, stays, restarts);
    return took;
  }

  private void heal(int leader, int stays, int restarts) throws Exception {
    nodes.stop(leader);
    ways.get(leader).endProcess();
    ways.get(restarts).delay(nodes.id(stays), 0);
    ways.get(stays).delay(nodes.id(restarts), 0);
    ways.get(leader).open();
    ways.get(stays).open(nodes.id(leader));
    ways.get(restarts).open(nodes.id(leader));
    nodes.start(leader, new RecordingConsumer());
    String last = "entry " + entries++;
    await().atMost(DEADLINE).ignoreExceptions().until(() -> isAppended(last));
    Command command = RatisNodes.command(last);
    for (int i = 0; i < 3; i++) {
      RecordingConsumer consumer = nodes.consumer(i);
      await().atMost(DEADLINE).until(() -> consumer.commands.contains(command));
    }
  }

  private boolean isAppended(String what) throws Exception {
    nodes.append(nodes.leader(), what);
    return true;
  }

  private void write(int leader, long began, long untilMillis) throws Exception {
    while (System.nanoTime() - began < TimeUnit.MILLISECONDS.toNanos(untilMillis)) {
      nodes.log(leader).append(RatisNodes.entry("entry " + entries++));
      TimeUnit.MILLISECONDS.sleep(2);
    }
  }

  private void silence(int from, int to, Connection connection) {
    if (connection == Connection.FALLS_SILENT_BEFORE) {
      ways.get(to).silence(nodes.id(from));
    }
  }

  private void breakOff(int from, int to, Connection connection) throws IOException {
    if (connection == Connection.BREAKS_WITH_THE_LEADER) {
      ways.get(to).breakOff(nodes.id(from));
    }
  }

  private static <T> T choose(Random random, T[] values) {
    return values[random.nextInt(values.length)];
  }
}
