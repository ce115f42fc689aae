package dev.tollgate.log.ratis;

import static dev.tollgate.log.ratis.LoneFollower.at;
import static dev.tollgate.log.ratis.LoneFollower.command;
import static dev.tollgate.log.ratis.LoneFollower.entry;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.SnapshotFile;
import dev.tollgate.log.StateDiffersException;
import dev.tollgate.log.peer.PeerGuard;
import dev.tollgate.log.peer.PeerTransport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A node whose state differs takes the one of the leader, whose log is ahead of its own. */
class StateTakeoverTest {
  private static final long OF_THE_STATE = 3;

  @TempDir Path directory;

  private final AtomicInteger fetched = new AtomicInteger();
  private volatile long termOfTheState = 1;
  private LoneFollower node;

  @BeforeEach
  void start() throws Exception {
    node = new LoneFollower(directory, RaftSettings.SNAPSHOT_LOG_BYTES);
    ((RatisStateMachine) node.division().getStateMachine()).entries().use(new Leader());
    node.ask(node.request(1, null, 0, entry(1, 0, "first")));
    await().atMost(LoneFollower.DEADLINE).until(() -> !node.consumer.commands.isEmpty());
  }

  @AfterEach
  void stop() throws IOException {
    node.close();
  }

  private void differAtEntry1(LogEntryProto... after) throws Exception {
    node.consumer.failNext = new StateDiffersException("on purpose");
    List<LogEntryProto> entries = new ArrayList<>(List.of(entry(1, 1, "differs")));
    entries.addAll(List.of(after));
    node.ask(node.request(1, at(1, 0), 1, entries.toArray(LogEntryProto[]::new)));
    await().atMost(LoneFollower.DEADLINE).until(() -> fetched.get() > 0);
    node.consumer.failNext = null;
  }

  private void assertNotTakenYet() {
    assertThrows(
        ConditionTimeoutException.class,
        () -> await().atMost(Duration.ofMillis(500)).until(() -> node.consumer.restored.get() > 0));
  }

  private void assertTakenAndGoesOn(AppendEntriesRequestProto after) throws Exception {
    await().atMost(LoneFollower.DEADLINE).until(() -> node.consumer.restored.get() == 1);
    assertEquals(AppendResult.SUCCESS, node.ask(after).getResult());
    await()
        .atMost(LoneFollower.DEADLINE)
        .until(() -> node.consumer.commands.equals(List.of(command("first"), command("after"))));
    assertEquals(List.of(), node.consumer.failures);
  }

  /** Ratis would expect the entry after the snapshot next, and append it behind a gap. */
  @Test
  void stateOfALaterEntryWaitsForTheLog() throws Exception {
    differAtEntry1();
    assertNotTakenYet();
    AppendEntriesRequestProto covered =
        node.request(1, at(1, 1), OF_THE_STATE, entry(1, 2, "covered"), entry(1, 3, "covered"));
    assertEquals(AppendResult.SUCCESS, node.ask(covered).getResult());
    assertTakenAndGoesOn(node.request(1, at(1, OF_THE_STATE), 4, entry(1, 4, "after")));
  }

  /** The log of this node is long enough, but its next leader cuts it off. */
  @Test
  void entriesThatWereNotCommittedAreNotThoseOfTheState() throws Exception {
    termOfTheState = 2;
    differAtEntry1(entry(1, 2, "lost"), entry(1, 3, "lost"), entry(1, 4, "lost"));
    assertNotTakenYet();
    AppendEntriesRequestProto covered =
        node.request(2, at(1, 1), OF_THE_STATE, entry(2, 2, "covered"), entry(2, 3, "covered"));
    assertEquals(AppendResult.SUCCESS, node.ask(covered).getResult());
    assertTakenAndGoesOn(node.request(2, at(2, OF_THE_STATE), 4, entry(2, 4, "after")));
  }

  /** The leader that sent the state may be gone. */
  @Test
  void stateThatTheLogDoesNotReachIsFetchedAgain() throws Exception {
    differAtEntry1();
    await().atMost(LoneFollower.DEADLINE).until(() -> fetched.get() > 1);
    assertEquals(0, node.consumer.restored.get());
    assertEquals(List.of(), node.consumer.failures);
  }

  private final class Leader implements PeerTransport {
    @Override
    public SnapshotFile fetchState(String leaderId, long logIndex, Path file) throws IOException {
      byte[] content = LoneFollower.snapshot();
      Files.write(file, content);
      fetched.incrementAndGet();
      return new SnapshotFile(file, termOfTheState, OF_THE_STATE, content.length, Instant.EPOCH);
    }

    @Override
    public CompletableFuture<Long> termOf(String nodeId) {
      return CompletableFuture.failedFuture(new IOException("not asked for"));
    }

    @Override
    public boolean hasLostEntries(String nodeId) {
      return false;
    }

    @Override
    public PeerGuard.@Nullable Refusal askToJoin(RaftPeer peer, int millis) {
      return null;
    }

    @Override
    public CompletableFuture<Void> forward(ByteString command) {
      return new CompletableFuture<>();
    }

    @Override
    public boolean isConnected(String nodeId) {
      return true;
    }

    @Override
    public void close() {}
  }
}
