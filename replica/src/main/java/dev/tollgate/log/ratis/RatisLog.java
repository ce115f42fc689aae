package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.UniqueId;
import dev.tollgate.log.ClockReading;
import dev.tollgate.log.KeyUse;
import dev.tollgate.log.LogConsumer;
import dev.tollgate.log.LogFigures;
import dev.tollgate.log.LogStatus;
import dev.tollgate.log.MemberClocks;
import dev.tollgate.log.Membership;
import dev.tollgate.log.NodeVersion;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.RemovedException;
import dev.tollgate.log.ReplicatedLog;
import dev.tollgate.log.SnapshotFile;
import dev.tollgate.log.SnapshotStore;
import dev.tollgate.log.StrangerException;
import dev.tollgate.log.Supervision;
import dev.tollgate.log.TermLeader;
import dev.tollgate.log.entry.EntryCodec;
import dev.tollgate.log.entry.ProposedEntry;
import dev.tollgate.log.peer.NodeIdentity;
import dev.tollgate.log.peer.PeerClocks;
import dev.tollgate.log.peer.PeerRpc;
import dev.tollgate.log.peer.PeerSettings;
import dev.tollgate.log.peer.PeerTransport;
import dev.tollgate.log.snapshot.SnapshotFiles;
import dev.tollgate.log.trace.PromiseTrace;
import dev.tollgate.seal.StoredFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.proto.RaftProtos.CommitInfoProto;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.proto.RaftProtos.ServerRpcProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.RaftClientAsynchronousProtocol;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The log on Apache Ratis. Requests enter in this process, at the leader, without a Ratis client
 * and without a hop of their own. docs/adr/0003 says what is configured here and why.
 */
public final class RatisLog implements ReplicatedLog {
  /** Within this time a new leader is elected. */
  private static final int ELECTION_TIMEOUTS = 5;

  static final RaftGroupId GROUP =
      RaftGroupId.valueOf(UUID.nameUUIDFromBytes(new byte[] {'t', 'o', 'l', 'l'}));

  private static final Logger LOG = LoggerFactory.getLogger(RatisLog.class);

  private final RaftSettings settings;
  private final NodeIdentity identity;
  private final PromiseTrace trace;
  private final RatisStateMachine stateMachine;
  private final RaftServer server;
  private final RatisMembership membership;
  private final LeadershipRounds rounds;
  private final @Nullable MissingLeader missingLeader;
  private final LateLeader lateLeader;
  private final ClientId clientId = ClientId.randomId();
  private final AtomicLong callIds = new AtomicLong();
  private final Supervision supervision;
  private final @Nullable PeerTransport transport;
  private final PeerClocks clocks;
  private volatile Phase phase = Phase.STARTING;
  private volatile @Nullable LogWriter writer;
  private volatile @Nullable CacheEviction eviction;
  private volatile @Nullable MembersOfLog members;

  /** Whether Ratis can be asked: it has opened its log, and has not closed it again. */
  private enum Phase {
    STARTING,
    RUNNING,
    STOPPED
  }

  /**
   * @throws IOException if the directory cannot be used, or another process uses it
   */
  public RatisLog(RaftSettings settings, LogConsumer consumer) throws IOException {
    this.settings = requireNonNull(settings, "settings");
    this.identity = identity(settings);
    this.trace = PromiseTrace.open(settings.nodeId(), identity.incarnation(), settings.promises());
    this.stateMachine = new RatisStateMachine(settings, identity, consumer, trace);
    this.supervision = new Supervision(settings.nodeId(), consumer::failed);
    this.clocks = new PeerClocks(settings.clock(), System::nanoTime);
    Parameters parameters = new Parameters();
    RaftPeerId self = RaftPeerId.valueOf(settings.nodeId());
    configure(parameters);
    this.server =
        RaftServer.newBuilder()
            .setServerId(self)
            .setGroup(group(settings))
            .setStateMachine(stateMachine)
            .setProperties(RatisProperties.of(settings))
            .setParameters(parameters)
            .setOption(RaftStorage.StartupOption.RECOVER)
            .setThreadGroup(supervision.group("tollgate-" + settings.nodeId() + "-raft"))
            .build();
    this.transport = transport(parameters);
    stateMachine.entries().use(transport);
    this.membership =
        new RatisMembership(
            server, GROUP, settings, transport, consumer::identity, stateMachine.hold());
    this.lateLeader = new LateLeader(settings.nodeId(), settings.electionTimeout(), supervision);
    this.missingLeader =
        transport == null ? null : new MissingLeader(settings.nodeId(), supervision);
    this.rounds = new LeadershipRounds(new RatisLeadership(server, GROUP, transport), supervision);
  }

  /** Tells the transport what to do with messages, before Ratis makes it. */
  private void configure(Parameters parameters) {
    String address = settings.raftAddress();
    if (address == null) {
      return;
    }
    PeerRpc.configure(
        parameters,
        new PeerSettings(
            settings.nodeId(),
            address,
            GROUP,
            stateMachine.end().guard(),
            stateMachine.appends(),
            snapshots(),
            supervision,
            RatisProperties.MAX_MESSAGE_BYTES,
            settings.electionTimeout().toMillis(),
            settings.tls(),
            clocks,
            trace,
            stateMachine.sealed()));
  }

  /** Returns what Ratis has made, or null for a node that stays alone. */
  private @Nullable PeerTransport transport(Parameters parameters) {
    return settings.raftAddress() == null ? null : PeerRpc.of(parameters);
  }

  private static NodeIdentity identity(RaftSettings settings) throws IOException {
    try {
      return NodeIdentity.open(
          settings.directory(),
          settings.nodeId(),
          groupDirectory(settings.directory()),
          settings.keys());
    } catch (RemovedException | StrangerException e) {
      throw e;
    } catch (IOException e) {
      throw StartFailure.explain(settings, e);
    }
  }

  /** Returns where a node's directory has the files of the group. */
  static Path groupDirectory(Path data) {
    return data.resolve(GROUP.getUuid().toString());
  }

  private static RaftGroup group(RaftSettings settings) {
    List<RaftPeer> peers = new ArrayList<>();
    settings
        .peers()
        .forEach(
            (id, address) ->
                peers.add(RaftPeer.newBuilder().setId(id).setAddress(address).build()));
    return RaftGroup.valueOf(GROUP, peers);
  }

  @Override
  public void start() throws IOException {
    try {
      Path group = groupDirectory(settings.directory());
      VoteFile.require(group, identity.clusterId() != null);
      MembersFile.restore(group);
      server.start();
      findInternals(server.getDivision(GROUP));
      stateMachine.disk().start(server, GROUP, requireNonNull(writer, "writer"));
      stateMachine.end().leaveIfRemoved();
      phase = Phase.RUNNING;
      stateMachine.tellLeadership();
      lateLeader.start(server, GROUP, stateMachine.entries()::isStanding);
      if (missingLeader != null) {
        PeerTransport peers = requireNonNull(transport, "transport");
        missingLeader.start(
            () -> MissingLeader.Search.of(server, GROUP, peers),
            settings.electionTimeout().multipliedBy(ELECTION_TIMEOUTS));
      }
    } catch (IOException | RuntimeException e) {
      for (Throwable cause = e; cause != null; cause = cause.getCause()) {
        if (cause instanceof StrangerException stranger) {
          throw stranger;
        }
      }
      throw StartFailure.explain(settings, e);
    }
  }

  private void writerEnded() {
    supervision.failed(
        "the thread that writes the log", new IllegalStateException("an error has ended it"));
  }

  private void findInternals(RaftServer.Division division) {
    RaftLog log = division.getRaftLog();
    try {
      members = MembersOfLog.of(division);
      LogWriter thread = LogWriter.of(log);
      thread.ifItEndsUntold(this::writerEnded);
      writer = thread;
      eviction = CacheEviction.of(log);
    } catch (ReflectiveOperationException | ClassCastException | IllegalArgumentException e) {
      throw new IllegalStateException(
          "this Ratis writes its log otherwise than the one that Tollgate was written for", e);
    }
  }

  @Override
  public CompletableFuture<Void> append(ProposedEntry entry) {
    RaftClientRequest request =
        RaftClientRequest.newBuilder()
            .setClientId(clientId)
            .setServerId(server.getId())
            .setGroupId(GROUP)
            .setCallId(callIds.incrementAndGet())
            .setMessage(new EntryMessage(entry))
            .setType(RaftClientRequest.writeRequestType())
            .build();
    return stateMachine
        .hold()
        .pass(() -> stateMachine.unanswered().propose(() -> propose(request)));
  }

  private CompletableFuture<Void> propose(RaftClientRequest request) {
    // the server itself would hand each request to another thread, and make the caller wait until
    // that thread has appended it
    RaftClientAsynchronousProtocol entrance = (RaftClientAsynchronousProtocol) division();
    if (entrance == null) {
      return CompletableFuture.failedFuture(
          new IOException("node " + settings.nodeId() + " is " + phase + " and proposes nothing"));
    }
    try {
      return entrance.submitClientRequestAsync(request).thenApply(RatisLog::requireSuccess);
    } catch (IOException | IllegalStateException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /**
   * Returns what is asked about the log: nothing is asked of Ratis in another way, because Ratis
   * throws while it has not opened its log, and clients may ask from the first moment on.
   *
   * @return null while this node starts, after it was closed, or once it has left its group
   */
  private RaftServer.@Nullable Division division() {
    if (phase != Phase.RUNNING) {
      return null;
    }
    try {
      return server.getDivision(GROUP);
    } catch (IOException e) {
      LOG.debug("{}: not in its group", settings.nodeId(), e);
      return null;
    }
  }

  /**
   * Holds back what makes the directory of this node known, until this node can prove that it is of
   * the cluster, also after a power cut. Nodes that know its directory wait for that proof.
   */
  @Override
  public CompletableFuture<Void> forward(Command command) {
    return command instanceof Command.AnnounceNode node && node.incarnation() != null
        // not on the thread that has applied the entry with the key
        ? identity.named().thenComposeAsync(named -> forwardNow(command))
        : forwardNow(command);
  }

  private CompletableFuture<Void> forwardNow(Command command) {
    return isAlone() ? append(ProposedEntry.untimed(command)) : forward(EntryCodec.encode(command));
  }

  CompletableFuture<Void> forward(byte[] command) {
    return requireNonNull(transport, "a node with peers has a way to them")
        .forward(UnsafeByteOperations.unsafeWrap(command));
  }

  static @Nullable Void requireSuccess(RaftClientReply reply) {
    if (!reply.isSuccess()) {
      throw new UncheckedIOException(
          reply.getException() == null
              ? new IOException("no success: " + reply)
              : reply.getException());
    }
    return null;
  }

  @Override
  public CompletableFuture<OptionalLong> readIndex() {
    return division() == null
        ? CompletableFuture.completedFuture(OptionalLong.empty())
        : rounds.readIndex();
  }

  @Override
  public long appliedIndex() {
    return stateMachine.getLastAppliedTermIndex().getIndex();
  }

  @Override
  public LogStatus status() {
    RaftServer.Division division = division();
    if (division == null) {
      return LogStatus.of(
          settings.nodeId(),
          phase == Phase.STARTING ? LogStatus.Role.STARTING : LogStatus.Role.STOPPED);
    }
    DivisionInfo info = division.getInfo();
    // what a follower says of itself is what it has applied (PeerService)
    Map<String, Long> told = new TreeMap<>();
    for (CommitInfoProto commit : division.getCommitInfos()) {
      told.put(commit.getServer().getId().toStringUtf8(), commit.getCommitIndex());
    }
    long committed = told.getOrDefault(settings.nodeId(), -1L);
    long applied = info.getLastAppliedIndex();
    String leader = leaderId();
    long leaderCommitted = leader == null ? -1 : told.getOrDefault(leader, -1L);
    if (leader != null) {
      told.put(leader, -1L);
    }
    told.put(settings.nodeId(), applied);
    Map<String, Long> silence = silence(info);
    List<LogStatus.Member> members = new ArrayList<>();
    for (RaftPeer peer : division.getGroup().getPeers()) {
      String id = peer.getId().toString();
      members.add(
          new LogStatus.Member(
              id,
              peer.getAddress(),
              told.getOrDefault(id, -1L),
              silence.get(id),
              info.isLeader() && transport != null && transport.hasLostEntries(id)));
    }
    return new LogStatus(
        settings.nodeId(),
        role(info),
        leader,
        info.getCurrentTerm(),
        applied,
        committed,
        leaderCommitted,
        members);
  }

  @Override
  public long lastIndexOnDisk() throws IOException {
    Path group = groupDirectory(settings.directory());
    long last = Math.max(0, LogTail.lastEntryOf(group.resolve("current")));
    for (SnapshotFiles.Snapshot snapshot :
        new SnapshotFiles(settings.nodeId(), group.resolve("sm")).all()) {
      last = Math.max(last, snapshot.last().getIndex());
    }
    return last;
  }

  @Override
  public LogFigures figures() {
    try {
      return DiskFigures.of(
          groupDirectory(settings.directory()), stateMachine.snapshots(), keyUse());
    } catch (IOException | UncheckedIOException | IllegalStateException e) {
      LOG.debug("{}: no figures of the directory", settings.nodeId(), e);
      return LogFigures.NONE;
    }
  }

  @Override
  public long diskHungMillis() {
    return stateMachine.disk().hungMillis();
  }

  /** For how long this node has not heard each node that it listens to, in milliseconds. */
  private Map<String, Long> silence(DivisionInfo info) {
    Map<String, Long> silence = new TreeMap<>();
    silence.put(settings.nodeId(), 0L);
    RoleInfoProto role = info.getRoleInfoProto();
    List<ServerRpcProto> heard =
        role.hasLeaderInfo()
            ? role.getLeaderInfo().getFollowerInfoList()
            : role.hasFollowerInfo() ? List.of(role.getFollowerInfo().getLeaderInfo()) : List.of();
    heard.forEach(
        node -> silence.put(node.getId().getId().toStringUtf8(), node.getLastRpcElapsedTimeMs()));
    return silence;
  }

  private LogStatus.Role role(DivisionInfo info) {
    return switch (info.getCurrentRole()) {
      case LEADER ->
          info.isLeaderReady() && !stateMachine.entries().isStanding()
              ? LogStatus.Role.LEADER
              : LogStatus.Role.STARTING;
      case CANDIDATE -> LogStatus.Role.CANDIDATE;
      case FOLLOWER, LISTENER, UNRECOGNIZED -> LogStatus.Role.FOLLOWER;
    };
  }

  @Override
  public @Nullable String leaderId() {
    DivisionInfo info = divisionInfo();
    RaftPeerId leader = info == null ? null : info.getLeaderId();
    return leader == null ? null : leader.toString();
  }

  @Override
  public @Nullable String successorId() {
    return membership.successorId();
  }

  @Override
  public boolean isTakingOver() {
    RaftServer.Division division = division();
    if (division == null || stateMachine.entries().isStanding()) {
      return false;
    }
    DivisionInfo info = division.getInfo();
    if (info.isLeader()) {
      return true;
    }
    // a term of its own is begun by a candidate that was asked to stand, or that most nodes would
    // elect; a node that hears no other one stays in the term of its log
    TermIndex last = division.getRaftLog().getLastEntryTermIndex();
    return info.isCandidate() && last != null && info.getCurrentTerm() > last.getTerm();
  }

  @Override
  public long term() {
    DivisionInfo info = divisionInfo();
    return info == null ? 0 : info.getCurrentTerm();
  }

  @Override
  public @Nullable TermLeader servingLeader() {
    DivisionInfo info = divisionInfo();
    if (info == null || (info.isLeader() && stateMachine.entries().isStanding())) {
      return null;
    }
    long term = info.getCurrentTerm();
    RaftPeerId leader = info.getLeaderId();
    // Ratis begins a term before it forgets the leader of the former one. An entry of this term can
    // be applied only after the leader of this term was heard
    boolean serves =
        leader != null
            && stateMachine.getLastAppliedTermIndex().getTerm() == term
            && info.getCurrentTerm() == term;
    return serves ? new TermLeader(term, leader.toString()) : null;
  }

  private @Nullable DivisionInfo divisionInfo() {
    RaftServer.Division division = division();
    return division == null ? null : division.getInfo();
  }

  @Override
  public MemberClocks clocks() {
    RaftServer.Division division = division();
    if (division == null || settings.raftAddress() == null) {
      return MemberClocks.ALONE;
    }
    SortedMap<String, ClockReading> others = new TreeMap<>();
    Collection<RaftPeer> members = division.getRaftConf().getCurrentPeers();
    for (RaftPeer member : members) {
      String id = member.getId().toString();
      ClockReading reading = id.equals(settings.nodeId()) ? null : clocks.of(id);
      if (reading != null) {
        others.put(id, reading);
      }
    }
    return new MemberClocks(Math.max(members.size(), others.size() + 1), others);
  }

  @Override
  public UniqueId incarnation() {
    return identity.incarnation();
  }

  @Override
  public void serveAdmin(String url) {
    identity.serveAdmin(url);
  }

  @Override
  public SortedMap<String, String> adminUrls() {
    return stateMachine.end().guard().adminUrls();
  }

  @Override
  public SortedMap<String, NodeVersion> versions() {
    return stateMachine.end().guard().versions().all();
  }

  @Override
  public boolean isKnown() {
    return identity.isKnown();
  }

  @Override
  public Membership membership() {
    return settings.raftAddress() == null
        ? Membership.fixed(
            "node "
                + settings.nodeId()
                + " was started without --raft-address, so no other node could reach it: start it"
                + " again with one")
        : membership;
  }

  @Override
  public SnapshotStore snapshots() {
    return new SnapshotStore() {
      @Override
      public List<SnapshotFile> list() throws IOException {
        return stateMachine.snapshots().list();
      }

      @Override
      public CompletableFuture<SnapshotFile> take() {
        return stateMachine.snapshots().take();
      }

      @Override
      public CompletableFuture<SnapshotFile> takeAfterEntry() {
        return stateMachine.snapshots().takeAfterEntry();
      }

      @Override
      public StoredFile open(SnapshotFile snapshot) throws IOException {
        return stateMachine.snapshots().open(snapshot);
      }

      @Override
      public byte[] configuration(long logIndex) throws IOException {
        MembersOfLog known = members;
        if (known == null) {
          throw new IOException("node " + settings.nodeId() + " has not opened its log yet");
        }
        return known.asOf(logIndex).toByteArray();
      }
    };
  }

  @Override
  public List<KeyUse> keyUse() throws IOException {
    RaftServer.Division running = division();
    return running == null
        ? List.of()
        : UsedKeys.of(
            stateMachine.sealed(),
            stateMachine.snapshots(),
            running.getRaftLog().getStartIndex(),
            identity.keyOfFile());
  }

  @Override
  public void sealAgain() throws IOException {
    identity.sealAgain();
  }

  @Override
  public boolean isAlone() {
    return membership.isAlone();
  }

  @Override
  public void close() {
    phase = Phase.STOPPED;
    stateMachine.end().closing();
    stateMachine.disk().close();
    lateLeader.close();
    if (missingLeader != null) {
      missingLeader.close();
    }
    if (transport != null) {
      transport.close();
    }
    closeServer();
    stateMachine.logClosed();
    // Ratis does not wait for the end of a state machine that has failed
    stateMachine.snapshots().close();
    trace.close();
  }

  private void closeServer() {
    CacheEviction evicting = eviction;
    if (evicting != null) {
      evicting.end();
    }
    AtomicBoolean closed = new AtomicBoolean();
    LogWriter sleeping = writer;
    if (sleeping != null) {
      supervision
          .thread("tollgate-log-writer-alarm", () -> sleeping.wakeWhenTold(closed::get))
          .start();
    }
    try {
      server.close();
    } catch (IOException e) {
      LOG.warn("{}: the Raft log did not close cleanly", settings.nodeId(), e);
    } finally {
      closed.set(true);
    }
  }
}
