package dev.tollgate.log.peer;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import dev.tollgate.log.SnapshotFile;
import dev.tollgate.log.SyncedFiles;
import dev.tollgate.log.snapshot.SnapshotFiles;
import dev.tollgate.seal.ChunkOutput;
import dev.tollgate.seal.DirectoryKeys;
import dev.tollgate.wire.WireFormatException;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.channels.Channels;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionReplyProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.rpc.RpcFactory;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerRpc;
import org.apache.ratis.server.ServerFactory;
import org.apache.ratis.server.leader.FollowerInfo;
import org.apache.ratis.server.leader.LeaderState;
import org.apache.ratis.server.leader.LogAppender;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.CodedInputStream;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.util.NetUtils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The messages of Ratis between nodes, each as a length and its bytes, over one blocking socket for
 * each pair of nodes and direction. docs/adr/0070 says why. Thread-safe.
 */
public final class PeerRpc implements RaftServerRpc, PeerTransport {
  private static final String SETTINGS = "tollgate.peer.settings";
  private static final String SERVER = "tollgate.peer.rpc";

  /** How long an answer may take that somebody waits for. */
  private static final long ANSWER_MILLIS = 1_000;

  /** A voter writes its vote first. Ratis interrupts the caller when it waits no longer. */
  private static final long VOTE_MILLIS = ANSWER_MILLIS + 2 * Limits.SLOW_DISK_ELECTION_MILLIS;

  private static final long FORWARD_RETRY_MILLIS = 300;

  private static final String FORWARDING = "an entry for the leader";

  private static final Logger LOG = LoggerFactory.getLogger(PeerRpc.class);

  private final Type type;
  private final PeerSettings settings;
  private final RaftServer server;
  private final InetSocketAddress address;
  private final PeerListener listener;
  private final Map<RaftPeerId, PeerLink> links = new ConcurrentHashMap<>();
  private final ClientId clientId = ClientId.randomId();
  private final AtomicLong forwards = new AtomicLong();
  private final Map<Long, CompletableFuture<Void>> forwarding = new ConcurrentHashMap<>();
  private final GrantedVotes votes = new GrantedVotes();
  private final KeptLinks kept;
  private volatile boolean closed;

  private PeerRpc(Type type, PeerSettings settings, RaftServer server) {
    this.type = type;
    this.settings = requireNonNull(settings, "settings");
    this.server = requireNonNull(server, "server");
    this.address = NetUtils.createSocketAddr(settings.address());
    this.listener = new PeerListener(settings, server, address);
    this.kept = new KeptLinks(settings, server, this::link);
  }

  /** Ratis creates an instance by the class name. */
  public static final class Type implements RpcType {
    public Type() {}

    @Override
    public String name() {
      return Type.class.getName();
    }

    @Override
    public RpcFactory newFactory(Parameters parameters) {
      return new Factory(this, parameters);
    }
  }

  private record Factory(Type type, Parameters parameters) implements ServerFactory {
    @Override
    public RpcType getRpcType() {
      return type;
    }

    @Override
    public RaftServerRpc newRaftServerRpc(RaftServer server) {
      PeerRpc rpc = new PeerRpc(type, parameters.getNonNull(SETTINGS, PeerSettings.class), server);
      parameters.put(SERVER, rpc, PeerRpc.class);
      return rpc;
    }

    @Override
    public LogAppender newLogAppender(
        RaftServer.Division division, LeaderState leader, FollowerInfo follower) {
      PeerRpc rpc = parameters.getNonNull(SERVER, PeerRpc.class);
      rpc.requireElected(division);
      return new PeerAppender(
          division, leader, follower, rpc.link(follower.getPeer()), rpc.settings);
    }
  }

  /** Makes a server that is built with these parameters use these settings. */
  public static void configure(Parameters parameters, PeerSettings settings) {
    parameters.put(SETTINGS, settings, PeerSettings.class);
  }

  /** Returns the transport of the server that was built with these parameters. */
  public static PeerRpc of(Parameters parameters) {
    return parameters.getNonNull(SERVER, PeerRpc.class);
  }

  @Override
  public RpcType getRpcType() {
    return type;
  }

  @Override
  public void start() throws IOException {
    listener.start();
    kept.start();
  }

  @Override
  public InetSocketAddress getInetSocketAddress() {
    return address;
  }

  @Override
  public void addRaftPeers(Collection<RaftPeer> peers) {
    peers.forEach(this::link);
  }

  /**
   * Fails this node if it was made a leader without votes. Ratis asks for the way to its followers
   * before it sends anything as a leader, or takes an entry.
   */
  private void requireElected(RaftServer.Division division) {
    long term = division.getInfo().getCurrentTerm();
    if (!votes.isElected(term, division.getRaftConf(), division.getId())) {
      IllegalStateException failure =
          new IllegalStateException(
              "node "
                  + settings.nodeId()
                  + " would lead in term "
                  + term
                  + " without the votes of a majority, because it stood still during an election."
                  + " Nothing was lost: start it again");
      settings.supervision().failed("an election", failure);
      throw failure;
    }
  }

  /** Returns the way to a node; a node that has moved gets a new one. */
  private PeerLink link(RaftPeer peer) {
    return requireNonNull(
        links.compute(
            peer.getId(),
            (id, link) -> {
              if (link != null && link.peer().getAddress().equals(peer.getAddress())) {
                return link;
              }
              if (link != null) {
                link.close();
              }
              return new PeerLink(settings, peer);
            }));
  }

  private PeerLink link(ByteString id) throws IOException {
    RaftPeerId peer = RaftPeerId.valueOf(id);
    PeerLink link = links.get(peer);
    if (link == null) {
      throw new IOException("node " + peer + " is not known here");
    }
    return link;
  }

  /** A link finds out by itself that its connection is of no more use. */
  @Override
  public void handleException(RaftPeerId peer, Exception e, boolean reconnect) {}

  /** Parses an answer. */
  private interface Parser<A> {
    A parse(CodedInputStream in) throws IOException;
  }

  private <A> A call(ByteString to, Frame.Kind kind, MessageLite request, Parser<A> parser)
      throws IOException {
    try {
      PeerLink link = link(to);
      CompletableFuture<Frame> answer =
          link.connect().call((call, read) -> Frame.of(kind, call, read, request));
      long most = kind == Frame.Kind.VOTE ? VOTE_MILLIS : ANSWER_MILLIS;
      try {
        return parser.parse(answer.get(most, TimeUnit.MILLISECONDS).message());
      } catch (TimeoutException e) {
        throw new IOException(
            "node " + link.peer().getId() + " has not answered for " + most + " ms", e);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      InterruptedIOException interrupted = new InterruptedIOException("interrupted");
      interrupted.initCause(e);
      throw interrupted;
    } catch (ExecutionException e) {
      throw new IOException(requireNonNull(e.getCause()).getMessage(), e);
    }
  }

  @Override
  public RequestVoteReplyProto requestVote(RequestVoteRequestProto request) throws IOException {
    if (request.getPreVote()) {
      settings.requireCaughtUp();
    } else {
      settings.requireSettled();
      settings.trace().stands(request.getCandidateTerm());
    }
    RequestVoteReplyProto reply =
        call(
            request.getServerRequest().getReplyId(),
            Frame.Kind.VOTE,
            request,
            RequestVoteReplyProto::parseFrom);
    settings.requireReachable(reply.getTerm());
    votes.note(request, reply);
    // the leader tells a candidate that is not a member to end, and Ratis then ends silently
    if (reply.getShouldShutdown()
        && !settings.guard().toldToEnd(request.getServerRequest().getReplyId().toStringUtf8())) {
      return reply.toBuilder().setShouldShutdown(false).build();
    }
    return reply;
  }

  @Override
  public StartLeaderElectionReplyProto startLeaderElection(StartLeaderElectionRequestProto request)
      throws IOException {
    return call(
        request.getServerRequest().getReplyId(),
        Frame.Kind.ELECTION,
        request,
        StartLeaderElectionReplyProto::parseFrom);
  }

  @Override
  public AppendEntriesReplyProto appendEntries(AppendEntriesRequestProto request)
      throws IOException {
    return call(
        request.getServerRequest().getReplyId(),
        Frame.Kind.APPEND,
        request,
        AppendEntriesReplyProto::parseFrom);
  }

  @Override
  public InstallSnapshotReplyProto installSnapshot(InstallSnapshotRequestProto request)
      throws IOException {
    return call(
        request.getServerRequest().getReplyId(),
        Frame.Kind.SNAPSHOT,
        request,
        InstallSnapshotReplyProto::parseFrom);
  }

  @Override
  public CompletableFuture<Long> termOf(String nodeId) {
    PeerLink link = links.get(RaftPeerId.valueOf(nodeId));
    PeerConnection connection = link == null ? null : link.connection();
    if (connection == null) {
      return CompletableFuture.failedFuture(new IOException("no connection to node " + nodeId));
    }
    return connection
        .term()
        .thenApply(answer -> answer.body().i64())
        .orTimeout(2 * settings.electionMillis(), TimeUnit.MILLISECONDS);
  }

  @Override
  public PeerGuard.@Nullable Refusal askToJoin(RaftPeer peer, int millis) throws IOException {
    return PeerConnection.askToJoin(settings, peer, millis);
  }

  @Override
  public CompletableFuture<Void> forward(ByteString command) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    long number = forwards.incrementAndGet();
    forwarding.put(number, done);
    forward(new ForwardedCommand(clientId, number, command), done);
    return done.whenComplete((nothing, failure) -> forwarding.remove(number));
  }

  /** Asks the leader as this node knows it, again and again. */
  private void forward(ForwardedCommand command, CompletableFuture<Void> done) {
    if (closed) {
      done.completeExceptionally(new IOException("node " + settings.nodeId() + " stops"));
      return;
    }
    settings
        .supervision()
        .watch(
            FORWARDING,
            attempt(command)
                .handle(
                    (rejection, failure) -> {
                      if (failure != null) {
                        again(command, done);
                      } else if (rejection != null) {
                        done.completeExceptionally(new PeerException(rejection));
                      } else {
                        done.complete(null);
                      }
                      return null;
                    }));
  }

  private void again(ForwardedCommand command, CompletableFuture<Void> done) {
    CompletableFuture.delayedExecutor(FORWARD_RETRY_MILLIS, TimeUnit.MILLISECONDS)
        .execute(settings.supervision().essential(FORWARDING, () -> forward(command, done)));
  }

  private CompletableFuture<@Nullable String> attempt(ForwardedCommand command) {
    RaftPeerId leader;
    try {
      leader = server.getDivision(settings.group()).getInfo().getLeaderId();
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
    if (leader == null || leader.equals(server.getId())) {
      return command.submit(server, settings.group());
    }
    PeerLink link = links.get(leader);
    if (link == null) {
      return CompletableFuture.failedFuture(new IOException("node " + leader + " is not known"));
    }
    return link.attempt()
        .thenCompose(
            connection ->
                connection.call(
                    (call, read) -> Frame.of(Frame.Kind.FORWARD, call, read, command.toBytes())))
        .thenApply(answer -> answer.body().nullableString())
        .orTimeout(2 * ForwardedCommand.MILLIS, TimeUnit.MILLISECONDS);
  }

  @Override
  public SnapshotFile fetchState(String leaderId, long logIndex, Path file)
      throws IOException, InterruptedException {
    PeerLink link = link(ByteString.copyFromUtf8(leaderId));
    try {
      WireReader found =
          ask(link, Frame.Kind.STATE, new WireWriter(Long.BYTES).i64(logIndex)).body();
      long term = found.i64();
      long index = found.i64();
      long size = found.i64();
      SyncedFiles.<InterruptedException>write(
          file,
          out -> {
            DirectoryKeys keys = settings.entries().keys();
            OutputStream plain = Channels.newOutputStream(out);
            ChunkOutput sealed =
                keys.isOn()
                    ? keys.seal(plain, SnapshotFiles.nameOf(TermIndex.valueOf(term, index)))
                    : null;
            long arrived = 0;
            byte[] part;
            do {
              WireWriter from = new WireWriter(3 * Long.BYTES).i64(term).i64(index).i64(arrived);
              part = ask(link, Frame.Kind.STATE_PART, from).body().bytes();
              (sealed == null ? plain : sealed).write(part);
              arrived += part.length;
            } while (part.length > 0 && arrived <= size);
            if (arrived != size) {
              throw new IOException(
                  arrived + " bytes of a snapshot of " + size + " bytes have arrived");
            }
            if (sealed != null) {
              sealed.finish();
            }
          });
      return new SnapshotFile(file, term, index, size, Instant.now());
    } catch (WireFormatException e) {
      throw new IOException("node " + leaderId + " has answered what cannot be read", e);
    }
  }

  private static Frame ask(PeerLink link, Frame.Kind kind, WireWriter body)
      throws IOException, InterruptedException {
    CompletableFuture<Frame> answer =
        link.connect().call((call, read) -> Frame.of(kind, call, read, body));
    try {
      return answer.get(ANSWER_MILLIS, TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new IOException("node " + link.peer().getId() + " does not answer", e);
    } catch (ExecutionException e) {
      throw new IOException(requireNonNull(e.getCause()).getMessage(), e);
    }
  }

  @Override
  public boolean isConnected(String nodeId) {
    PeerLink link = links.get(RaftPeerId.valueOf(nodeId));
    return link != null && link.connection() != null;
  }

  @Override
  public boolean hasLostEntries(String nodeId) {
    PeerLink link = links.get(RaftPeerId.valueOf(nodeId));
    return link != null && link.hasLostEntries();
  }

  /** Ends all connections. Ratis calls this when the server is closed; later calls do nothing. */
  @Override
  public void close() {
    closed = true;
    kept.close();
    // first: whoever misses this node then finds nobody at its address
    try {
      listener.close();
    } catch (IOException e) {
      LOG.warn("{}: the socket for other nodes did not close", settings.nodeId(), e);
    }
    links.values().forEach(PeerLink::close);
    forwarding
        .values()
        .forEach(
            waiting ->
                waiting.completeExceptionally(
                    new IOException("node " + settings.nodeId() + " stops")));
  }
}
