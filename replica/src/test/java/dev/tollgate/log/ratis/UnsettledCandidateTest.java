package dev.tollgate.log.ratis;

import static dev.tollgate.log.ratis.LoneFollower.at;
import static dev.tollgate.log.ratis.LoneFollower.entry;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.tollgate.cluster.Ports;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.RecordingConsumer;
import dev.tollgate.log.entry.EntryBytes;
import dev.tollgate.log.peer.RawPeer;
import dev.tollgate.log.peer.ScriptedFollower;
import dev.tollgate.log.trace.PromiseFiles;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftGroupIdProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.TermIndexProto;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A node whose disk is still writing what an earlier leader has sent is not elected. */
@Timeout(60)
class UnsettledCandidateTest {
  private static final Duration ELECTION_TIMEOUT = Duration.ofMillis(200);
  private static final Duration SEVERAL_ELECTIONS = Duration.ofSeconds(1);

  @TempDir Path directory;
  private final BlockingQueue<AppendEntriesReplyProto> replies = new LinkedBlockingQueue<>();
  private long calls;

  /**
   * A leader counts itself for what Ratis takes for synced, and that is right only once the disk
   * has nothing left to do for an earlier leader: it may have cut entries off meanwhile.
   */
  @Test
  void diskIsDoneBeforeANodeAsksForVotes() throws Exception {
    SortedMap<String, String> peers = new TreeMap<>();
    RecordingConsumer consumer = new RecordingConsumer();
    try (ScriptedFollower n1 = new ScriptedFollower("n1", directory);
        ScriptedFollower n3 = new ScriptedFollower("n3", directory)) {
      peers.put(n1.id(), n1.address());
      peers.put(n3.id(), n3.address());
      peers.put("n2", "127.0.0.1:" + Ports.free());
      RaftSettings settings =
          new RaftSettings(
                  "n2",
                  peers.get("n2"),
                  peers,
                  directory.resolve("n2"),
                  ELECTION_TIMEOUT,
                  Long.MAX_VALUE)
              .withPromises(PromiseFiles.of(directory, "n2"));
      n1.preVotes(false);
      n3.preVotes(false);
      n3.appendsEntries(false);
      try (RatisLog log = new RatisLog(settings, consumer)) {
        log.start();
        RaftServer.Division division = RatisLogTest.serverOf(log).getDivision(RatisLog.GROUP);
        FollowerAppends appends = ((RatisStateMachine) division.getStateMachine()).appends();
        try (RawPeer leader = RawPeer.node("n1", "n2", peers.get("n2")).reading()) {
          long term = 1;
          leader.append(
              request(
                  "n1",
                  term,
                  null,
                  LongStream.range(0, 6).mapToObj(i -> entry(term, i, "old")).toList()),
              replies::add);
          assertEquals(AppendResult.SUCCESS, replies.poll(20, TimeUnit.SECONDS).getResult());
          try (HeldWriter disk = new HeldWriter("n2")) {
            leader.append(
                request("n1", term, at(term, 5), List.of(entry(term, 6, "old"))), replies::add);
            disk.awaitHeld();
            n1.forgetAfter(6);
            n1.preVotes(true);
            n3.preVotes(true);
            appends.standForElection("n1", term);
            assertFalse(appends.hasCaughtUp());
            await()
                .during(SEVERAL_ELECTIONS)
                .atMost(SEVERAL_ELECTIONS.multipliedBy(2))
                .until(() -> !consumer.leading.get());
          }
          await().untilTrue(consumer.leading);
          log.append(EntryBytes.untimed(LoneFollower.command("x"))).get(20, TimeUnit.SECONDS);
        }
      }
    }
    PromiseFiles.check(directory);
    assertFalse(consumer.commands.isEmpty());
  }

  private AppendEntriesRequestProto request(
      String leader, long term, TermIndexProto previous, List<LogEntryProto> entries) {
    AppendEntriesRequestProto.Builder request =
        AppendEntriesRequestProto.newBuilder()
            .setServerRequest(
                RaftRpcRequestProto.newBuilder()
                    .setRequestorId(ByteString.copyFromUtf8(leader))
                    .setReplyId(ByteString.copyFromUtf8("n2"))
                    .setRaftGroupId(
                        RaftGroupIdProto.newBuilder().setId(RatisLog.GROUP.toByteString()))
                    .setCallId(++calls))
            .setLeaderTerm(term)
            .addAllEntries(entries)
            .setLeaderCommit(-1);
    return (previous == null ? request : request.setPreviousLog(previous)).build();
  }
}
