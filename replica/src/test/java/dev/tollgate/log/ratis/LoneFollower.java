package dev.tollgate.log.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tollgate.cluster.Ports;
import dev.tollgate.core.command.Command;
import dev.tollgate.log.LogStatus;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.RecordingConsumer;
import dev.tollgate.log.entry.EntryBytes;
import dev.tollgate.log.peer.RawPeer;
import dev.tollgate.log.trace.PromiseFiles;
import dev.tollgate.snapshot.SnapshotWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.FileChunkProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto.SnapshotChunkProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftConfigurationProto;
import org.apache.ratis.proto.RaftProtos.RaftGroupIdProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.proto.RaftProtos.TermIndexProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;
import org.jspecify.annotations.Nullable;

/** One real node, n2 of three; the test is its leaders, of one term after the other. */
final class LoneFollower implements AutoCloseable {
  static final Duration DEADLINE = Duration.ofSeconds(30);
  static final long NOTHING = -1;
  static final String ID = "n2";

  final RecordingConsumer consumer = new RecordingConsumer();
  private final BlockingQueue<AppendEntriesReplyProto> replies = new LinkedBlockingQueue<>();
  private final Path directory;
  private final SortedMap<String, String> peers;
  private final RatisLog log;
  private final RawPeer leader;
  private long calls;

  LoneFollower(Path directory, long snapshotLogBytes) throws IOException {
    this(directory, snapshotLogBytes, Ports.peers(3), Duration.ofSeconds(10), /* joins= */ false);
  }

  private LoneFollower(
      Path directory,
      long snapshotLogBytes,
      SortedMap<String, String> peers,
      Duration electionTimeout,
      boolean joins)
      throws IOException {
    this.directory = directory;
    this.peers = peers;
    log =
        new RatisLog(
            new RaftSettings(
                    ID,
                    peers.get(ID),
                    joins ? Collections.emptySortedMap() : peers,
                    directory,
                    electionTimeout,
                    snapshotLogBytes)
                .withPromises(PromiseFiles.of(directory, ID)),
            consumer);
    log.start();
    leader = RawPeer.node("n1", ID, peers.get(ID)).reading();
  }

  /** A node that is no member yet, and stands for election soon once it is one. */
  static LoneFollower joining(Path directory, long snapshotLogBytes) throws IOException {
    return joining(directory, snapshotLogBytes, Ports.peers(3));
  }

  private static LoneFollower joining(
      Path directory, long snapshotLogBytes, SortedMap<String, String> peers) throws IOException {
    return new LoneFollower(
        directory, snapshotLogBytes, peers, Duration.ofMillis(50), /* joins= */ true);
  }

  /** Stops this node, and starts it again. */
  LoneFollower again(Path directory, long snapshotLogBytes) throws IOException {
    close();
    return joining(directory, snapshotLogBytes, peers);
  }

  /** Votes on the thread of the caller for the node that would lead this term. */
  RequestVoteReplyProto vote(long term, TermIndexProto last) throws Exception {
    RequestVoteRequestProto vote =
        RequestVoteRequestProto.newBuilder()
            .setServerRequest(request(term))
            .setCandidateTerm(term)
            .setCandidateLastEntry(last)
            .build();
    return appends().vote(vote, RatisLogTest.serverOf(log)::requestVote);
  }

  /** Connects to this node as another one. */
  RawPeer connect(String id) throws IOException {
    return RawPeer.node(id, ID, peers.get(ID)).reading();
  }

  FollowerAppends appends() throws Exception {
    return ((RatisStateMachine) division().getStateMachine()).appends();
  }

  /**
   * Asks for a vote in the name of any candidate.
   *
   * @param last the last entry of the candidate, or null if it has none
   */
  CompletableFuture<RequestVoteReplyProto> requestVote(
      String candidate, boolean preVote, long term, @Nullable TermIndexProto last)
      throws IOException {
    RequestVoteRequestProto.Builder vote =
        RequestVoteRequestProto.newBuilder()
            .setServerRequest(
                request(term).toBuilder().setRequestorId(ByteString.copyFromUtf8(candidate)))
            .setPreVote(preVote)
            .setCandidateTerm(term);
    return leader.requestVote((last == null ? vote : vote.setCandidateLastEntry(last)).build());
  }

  /** Says as n1 that this node has acknowledged an entry; true if the node lacks it. */
  boolean lost(long term, long logIndex) throws Exception {
    return leader.lost(term, logIndex).get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
  }

  /** The entry with all three nodes as members. */
  LogEntryProto membersEntry(long term, long index) {
    return membersEntry(term, index, peers.keySet());
  }

  /** The entry with some of the three nodes as members. */
  LogEntryProto membersEntry(long term, long index, Set<String> ids) {
    RaftConfigurationProto.Builder members = RaftConfigurationProto.newBuilder();
    for (String id : ids) {
      members.addPeers(
          RaftPeerProto.newBuilder().setId(ByteString.copyFromUtf8(id)).setAddress(peers.get(id)));
    }
    return LogEntryProto.newBuilder()
        .setTerm(term)
        .setIndex(index)
        .setConfigurationEntry(members)
        .build();
  }

  LogStatus status() {
    return log.status();
  }

  RaftServer.Division division() throws Exception {
    return RatisLogTest.serverOf(log).getDivision(RatisLog.GROUP);
  }

  @Override
  public void close() throws IOException {
    leader.close();
    log.close();
    PromiseFiles.check(directory);
  }

  AppendEntriesReplyProto ask(AppendEntriesRequestProto request)
      throws IOException, InterruptedException {
    send(request);
    return answer(request);
  }

  void send(AppendEntriesRequestProto request) throws IOException {
    leader.append(request, replies::add);
  }

  /** Waits for the answer to the request sent first of those that have none. */
  AppendEntriesReplyProto answer(AppendEntriesRequestProto request) throws InterruptedException {
    AppendEntriesReplyProto reply = replies.poll(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    assertEquals(
        request.getServerRequest().getCallId(), reply.getServerReply().getCallId(), "an answer");
    return reply;
  }

  /** What the leader of a term says: n1 leads the odd ones, n3 the others. */
  AppendEntriesRequestProto request(
      long term, @Nullable TermIndexProto previous, long committed, LogEntryProto... entries) {
    AppendEntriesRequestProto.Builder request =
        AppendEntriesRequestProto.newBuilder()
            .setServerRequest(request(term))
            .setLeaderTerm(term)
            .addAllEntries(List.of(entries))
            .setLeaderCommit(committed);
    return (previous == null ? request : request.setPreviousLog(previous)).build();
  }

  /** Sends a snapshot without records that covers the log up to this entry. */
  CompletableFuture<InstallSnapshotReplyProto> installSnapshot(long term, TermIndexProto last)
      throws IOException, NoSuchAlgorithmException {
    return installSnapshot(term, last, null);
  }

  /**
   * @param members the entry with the members that the leader names, or null
   */
  CompletableFuture<InstallSnapshotReplyProto> installSnapshot(
      long term, TermIndexProto last, @Nullable LogEntryProto members)
      throws IOException, NoSuchAlgorithmException {
    byte[] content = snapshot();
    FileChunkProto file =
        FileChunkProto.newBuilder()
            .setFilename("sm/snapshot." + last.getTerm() + "_" + last.getIndex())
            .setTotalSize(content.length)
            .setFileDigest(ByteString.copyFrom(MessageDigest.getInstance("MD5").digest(content)))
            .setData(UnsafeByteOperations.unsafeWrap(content))
            .setDone(true)
            .build();
    InstallSnapshotRequestProto.Builder request =
        InstallSnapshotRequestProto.newBuilder()
            .setServerRequest(request(term))
            .setLeaderTerm(term)
            .setSnapshotChunk(
                SnapshotChunkProto.newBuilder()
                    .setRequestId("snapshot")
                    .setTermIndex(last)
                    .setTotalSize(content.length)
                    .addFileChunks(file)
                    .setDone(true));
    if (members != null) {
      request.setLastRaftConfigurationLogEntryProto(members);
    }
    return leader.installSnapshot(request.build());
  }

  /** A snapshot without records. */
  static byte[] snapshot() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    new SnapshotWriter(bytes).finish();
    return bytes.toByteArray();
  }

  List<LogStatus.Member> members() {
    return log.status().members();
  }

  /** Where Ratis keeps the log, the snapshots and what it receives. */
  static Path storage(Path directory) {
    return RatisLog.groupDirectory(directory);
  }

  private RaftRpcRequestProto request(long term) {
    return RaftRpcRequestProto.newBuilder()
        .setRequestorId(ByteString.copyFromUtf8(term % 2 == 1 ? "n1" : "n3"))
        .setReplyId(ByteString.copyFromUtf8(ID))
        .setRaftGroupId(RaftGroupIdProto.newBuilder().setId(RatisLog.GROUP.toByteString()))
        .setCallId(++calls)
        .build();
  }

  static TermIndexProto at(long term, long index) {
    return TermIndexProto.newBuilder().setTerm(term).setIndex(index).build();
  }

  static LogEntryProto entry(long term, long index, String what) {
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

  static Command command(String what) {
    return new Command.AnnounceNode("node", what);
  }
}
