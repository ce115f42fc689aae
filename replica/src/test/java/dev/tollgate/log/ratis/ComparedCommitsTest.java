package dev.tollgate.log.ratis;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import dev.tollgate.cluster.Ports;
import dev.tollgate.core.command.Command;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.RecordingConsumer;
import dev.tollgate.log.entry.EntryBytes;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SortedMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftGroupIdProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.proto.RaftProtos.TermIndexProto;
import org.apache.ratis.proto.grpc.RaftServerProtocolServiceGrpc;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;
import org.apache.ratis.thirdparty.io.grpc.ManagedChannel;
import org.apache.ratis.thirdparty.io.grpc.ManagedChannelBuilder;
import org.apache.ratis.thirdparty.io.grpc.stub.StreamObserver;
import org.apache.ratis.util.NetUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One real node; the test is its leaders, of one term after the other. */
class ComparedCommitsTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  private static final long NOTHING = -1;

  @TempDir Path directory;

  private final RecordingConsumer consumer = new RecordingConsumer();
  private final BlockingQueue<AppendEntriesReplyProto> replies = new LinkedBlockingQueue<>();
  private RatisLog log;
  private ManagedChannel channel;
  private StreamObserver<AppendEntriesRequestProto> leader;
  private long calls;

  @BeforeEach
  void startOneOfThree() throws IOException {
    SortedMap<String, String> peers = Ports.peers(3);
    log =
        new RatisLog(
            new RaftSettings(
                "n2",
                peers.get("n2"),
                peers,
                directory,
                Duration.ofSeconds(10),
                RaftSettings.SNAPSHOT_LOG_BYTES),
            consumer);
    log.start();
    int port = NetUtils.createSocketAddr(peers.get("n2")).getPort();
    channel = ManagedChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().build();
    leader =
        RaftServerProtocolServiceGrpc.newStub(channel)
            .appendEntries(
                new StreamObserver<>() {
                  @Override
                  public void onNext(AppendEntriesReplyProto reply) {
                    replies.add(reply);
                  }

                  @Override
                  public void onError(Throwable end) {}

                  @Override
                  public void onCompleted() {}
                });
  }

  @AfterEach
  void stop() {
    channel.shutdownNow();
    log.close();
  }

  /** As when three nodes start on a slow machine and two of them are elected within a second. */
  @Test
  void heartbeatThatComparesNothingCommitsNothing() throws Exception {
    ask(request(1, null, NOTHING, entry(1, 0, "overruled")));
    assertEquals(NOTHING, ask(request(2, null, 0)).getFollowerCommit());
    assertEquals(
        AppendResult.SUCCESS, ask(request(2, null, 0, entry(2, 0, "elected"))).getResult());
    awaitApplied("elected");
  }

  @Test
  void entryThatNoLeaderHasIsNotCommittedByTheOneBeforeIt() throws Exception {
    ask(request(1, null, NOTHING, entry(1, 0, "common"), entry(1, 1, "overruled")));
    assertEquals(0, ask(request(2, null, 1, entry(1, 0, "common"))).getFollowerCommit());
    assertEquals(
        AppendResult.SUCCESS, ask(request(2, at(1, 0), 1, entry(2, 1, "elected"))).getResult());
    awaitApplied("common", "elected");
  }

  @Test
  void entryThatWasComparedIsCommitted() throws Exception {
    ask(request(1, null, NOTHING, entry(1, 0, "a"), entry(1, 1, "b")));
    assertEquals(1, ask(request(1, at(1, 1), 7)).getFollowerCommit());
    assertEquals(2, ask(request(1, at(1, 1), 7, entry(1, 2, "c"))).getFollowerCommit());
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
    ask(request(1, null, NOTHING, log.toArray(LogEntryProto[]::new)));
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
        ask(requestOf(term, log, next, committed.size() - 1, random));
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
    return request(
        term,
        names ? at(log.get(next - 1).getTerm(), next - 1) : null,
        committed,
        log.subList(next, next + count).toArray(LogEntryProto[]::new));
  }

  private void bringUpToDate(long term, List<LogEntryProto> log) throws InterruptedException {
    int next = log.size();
    for (int asked = 0; asked <= 2 * log.size(); asked++) {
      TermIndexProto previous = next == 0 ? null : at(log.get(next - 1).getTerm(), next - 1);
      LogEntryProto[] rest = log.subList(next, log.size()).toArray(LogEntryProto[]::new);
      AppendEntriesReplyProto reply = ask(request(term, previous, log.size() - 1L, rest));
      if (reply.getResult() == AppendResult.SUCCESS) {
        return;
      }
      next = (int) Math.max(0, reply.getNextIndex() == next ? next - 1 : reply.getNextIndex());
    }
    fail("the node takes nothing from its leader");
  }

  private AppendEntriesReplyProto ask(AppendEntriesRequestProto request)
      throws InterruptedException {
    leader.onNext(request);
    AppendEntriesReplyProto reply = replies.poll(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    assertEquals(
        request.getServerRequest().getCallId(), reply.getServerReply().getCallId(), "an answer");
    return reply;
  }

  private void awaitApplied(String... what) {
    List<Command> commands = Stream.of(what).map(ComparedCommitsTest::command).toList();
    await()
        .atMost(DEADLINE)
        .untilAsserted(() -> assertEquals(commands, List.copyOf(consumer.commands)));
    assertEquals(List.of(), consumer.failures);
  }

  /** What the leader of a term says: n1 leads the odd ones, n3 the others. */
  private AppendEntriesRequestProto request(
      long term, TermIndexProto previous, long committed, LogEntryProto... entries) {
    AppendEntriesRequestProto.Builder request =
        AppendEntriesRequestProto.newBuilder()
            .setServerRequest(
                RaftRpcRequestProto.newBuilder()
                    .setRequestorId(ByteString.copyFromUtf8(term % 2 == 1 ? "n1" : "n3"))
                    .setReplyId(ByteString.copyFromUtf8("n2"))
                    .setRaftGroupId(
                        RaftGroupIdProto.newBuilder().setId(RatisLog.GROUP.toByteString()))
                    .setCallId(++calls))
            .setLeaderTerm(term)
            .addAllEntries(List.of(entries))
            .setLeaderCommit(committed);
    return (previous == null ? request : request.setPreviousLog(previous)).build();
  }

  private static TermIndexProto at(long term, long index) {
    return TermIndexProto.newBuilder().setTerm(term).setIndex(index).build();
  }

  private static LogEntryProto entry(long term, long index, String what) {
    byte[] bytes = EntryBytes.of(EntryBytes.untimed(command(what)));
    return LogEntryProto.newBuilder()
        .setTerm(term)
        .setIndex(index)
        .setStateMachineLogEntry(
            StateMachineLogEntryProto.newBuilder()
                .setLogData(UnsafeByteOperations.unsafeWrap(bytes))
                .setClientId(ClientId.randomId().toByteString())
                .setCallId(index))
        .build();
  }

  private static String said(LogEntryProto entry) {
    return "term " + entry.getTerm() + ", index " + entry.getIndex();
  }

  private static Command command(String what) {
    return new Command.AnnounceNode("node", what);
  }
}
