package dev.tollgate.log.ratis;

import static dev.tollgate.log.ratis.LoneFollower.NOTHING;
import static dev.tollgate.log.ratis.LoneFollower.at;
import static dev.tollgate.log.ratis.LoneFollower.entry;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import dev.tollgate.core.command.Command;
import dev.tollgate.log.RaftSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.TermIndexProto;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One real node; the test is its leaders, of one term after the other. */
class ComparedCommitsTest {
  @TempDir Path directory;

  private LoneFollower node;

  @BeforeEach
  void start() throws IOException {
    node = new LoneFollower(directory, RaftSettings.SNAPSHOT_LOG_BYTES);
  }

  @AfterEach
  void stop() throws IOException {
    node.close();
  }

  /** As when three nodes start on a slow machine and two of them are elected within a second. */
  @Test
  void heartbeatThatComparesNothingCommitsNothing() throws Exception {
    node.ask(node.request(1, null, NOTHING, entry(1, 0, "overruled")));
    node.ask(node.request(2, null, 0));
    assertEquals(NOTHING, node.status().commitIndex());
    assertEquals(
        AppendResult.SUCCESS,
        node.ask(node.request(2, null, 0, entry(2, 0, "elected"))).getResult());
    awaitApplied("elected");
  }

  @Test
  void entryThatNoLeaderHasIsNotCommittedByTheOneBeforeIt() throws Exception {
    node.ask(node.request(1, null, NOTHING, entry(1, 0, "common"), entry(1, 1, "overruled")));
    node.ask(node.request(2, null, 1, entry(1, 0, "common")));
    assertEquals(0, node.status().commitIndex());
    assertEquals(
        AppendResult.SUCCESS,
        node.ask(node.request(2, at(1, 0), 1, entry(2, 1, "elected"))).getResult());
    awaitApplied("common", "elected");
  }

  @Test
  void entryThatWasComparedIsCommitted() throws Exception {
    node.ask(node.request(1, null, NOTHING, entry(1, 0, "a"), entry(1, 1, "b")));
    node.ask(node.request(1, at(1, 1), 7));
    assertEquals(1, node.status().commitIndex());
    node.ask(node.request(1, at(1, 1), 7, entry(1, 2, "c")));
    assertEquals(2, node.status().commitIndex());
    awaitApplied("a", "b", "c");
  }

  /**
   * Leaders whose logs follow the rules of Raft say what they may say, in any order: the node never
   * applies what is not committed, and the last one of them brings it up to date.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 15, 20})
  void nodeAppliesWhatIsCommittedWhateverLeadersSay(long seed) throws Exception {
    Random random = new Random(seed);
    List<LogEntryProto> log = new ArrayList<>();
    for (int index = 0; index <= random.nextInt(3); index++) {
      log.add(entry(1, index, "term 1, index " + index));
    }
    node.ask(node.request(1, null, NOTHING, log.toArray(LogEntryProto[]::new)));
    List<LogEntryProto> committed = List.copyOf(log.subList(0, random.nextInt(log.size() + 1)));
    int terms = 6;
    for (int term = 2; term <= terms; term++) {
      // whoever is elected has at least what is committed
      log = new ArrayList<>(random.nextInt(4) > 0 ? committed : log);
      for (int said = random.nextInt(6); said > 0; said--) {
        if (random.nextBoolean()) {
          log.add(entry(term, log.size(), "term " + term + ", index " + log.size()));
          committed = random.nextBoolean() ? List.copyOf(log) : committed;
        }
        int next = random.nextInt(1 + random.nextInt(log.size() + 1));
        node.ask(requestOf(term, log, next, committed.size() - 1, random));
      }
    }
    bringUpToDate(terms + 1, committed);
    awaitApplied(committed.stream().map(ComparedCommitsTest::said).toArray(String[]::new));
  }

  /** Some entries from an index on, or none; without entries it need not say what is before. */
  private AppendEntriesRequestProto requestOf(
      long term, List<LogEntryProto> log, int next, long committed, Random random) {
    int count = random.nextInt(Math.min(4, log.size() - next + 1));
    boolean names = next > 0 && (count > 0 || random.nextBoolean());
    return node.request(
        term,
        names ? at(log.get(next - 1).getTerm(), next - 1) : null,
        committed,
        log.subList(next, next + count).toArray(LogEntryProto[]::new));
  }

  private void bringUpToDate(long term, List<LogEntryProto> log)
      throws IOException, InterruptedException {
    int next = log.size();
    for (int asked = 0; asked <= 2 * log.size(); asked++) {
      TermIndexProto previous = next == 0 ? null : at(log.get(next - 1).getTerm(), next - 1);
      LogEntryProto[] rest = log.subList(next, log.size()).toArray(LogEntryProto[]::new);
      AppendEntriesReplyProto reply = node.ask(node.request(term, previous, log.size() - 1L, rest));
      if (reply.getResult() == AppendResult.SUCCESS) {
        return;
      }
      next = (int) Math.max(0, reply.getNextIndex() == next ? next - 1 : reply.getNextIndex());
    }
    fail("the node takes nothing from its leader");
  }

  private void awaitApplied(String... what) {
    List<Command> commands = Stream.of(what).map(LoneFollower::command).toList();
    await()
        .atMost(LoneFollower.DEADLINE)
        .untilAsserted(() -> assertEquals(commands, List.copyOf(node.consumer.commands)));
    assertEquals(List.of(), node.consumer.failures);
  }

  private static String said(LogEntryProto entry) {
    return "term " + entry.getTerm() + ", index " + entry.getIndex();
  }
}
