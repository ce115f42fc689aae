package dev.tollgate.log.peer;

import dev.tollgate.cluster.Ports;
import dev.tollgate.core.command.FeatureLevels;
import dev.tollgate.log.NodeVersion;
import dev.tollgate.log.SnapshotFile;
import dev.tollgate.log.SnapshotStore;
import dev.tollgate.log.Supervision;
import dev.tollgate.log.trace.PromiseTrace;
import dev.tollgate.seal.DataKeys;
import dev.tollgate.seal.DirectoryKeys;
import dev.tollgate.tls.TlsCredentials;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftConfigurationProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionReplyProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.util.NetUtils;
import org.jspecify.annotations.Nullable;

/** A node that listens, with a server behind it that does what the test says. */
final class TestNode implements AutoCloseable {
  static final RaftGroupId GROUP = RaftGroupId.valueOf(new UUID(1, 2));
  static final int MAX_FRAME_BYTES = 8 << 20;

  final String id;
  final String address;
  final PeerSettings settings;
  final NodeIdentity identity;

  /** Nodes that are no members. */
  final Set<String> strangers = ConcurrentHashMap.newKeySet();

  final List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
  final List<IOException> stops = Collections.synchronizedList(new ArrayList<>());

  /** What it has refused to whom. */
  final List<String> refused = Collections.synchronizedList(new ArrayList<>());

  final AtomicInteger votes = new AtomicInteger();
  final AtomicInteger terms = new AtomicInteger();
  final PeerListener listener;

  /** Called by the thread of a connection, or one that may wait for the log. */
  volatile Function<AppendEntriesRequestProto, CompletableFuture<AppendEntriesReplyProto>> appends =
      request -> CompletableFuture.completedFuture(reply(request));

  volatile Function<RequestVoteRequestProto, RequestVoteReplyProto> voter =
      request -> RequestVoteReplyProto.newBuilder().setTerm(request.getCandidateTerm()).build();

  /** The entries about which a leader has asked whether they are lost. */
  final List<Long> asked = Collections.synchronizedList(new ArrayList<>());

  /** What it answers to them. */
  volatile boolean lost;

  /** What each of these answers waits for. */
  volatile CountDownLatch holdLost = new CountDownLatch(0);

  /** The parts of snapshots that have come. */
  final List<InstallSnapshotRequestProto> installs =
      Collections.synchronizedList(new ArrayList<>());

  /** The feature level that the cluster has, as this node knows. */
  volatile int clusterLevel = FeatureLevels.FIRST;

  /** Whether nearly all that is committed is applied. */
  volatile boolean caughtUp = true;

  volatile boolean settled = true;

  /** Whether requests with entries have to wait. */
  volatile boolean busy;

  TestNode(String id, Path directory, long electionMillis) throws IOException {
    this(id, directory, electionMillis, null);
  }

  TestNode(String id, Path directory, long electionMillis, @Nullable TlsCredentials tls)
      throws IOException {
    this(id, directory, electionMillis, tls, NodeVersion.of(FeatureLevels.STANDARD));
  }

  TestNode(
      String id,
      Path directory,
      long electionMillis,
      @Nullable TlsCredentials tls,
      NodeVersion version)
      throws IOException {
    this.id = id;
    this.address = "127.0.0.1:" + Ports.free();
    this.identity =
        NodeIdentity.open(directory.resolve(id), id, directory.resolve("log"), DataKeys.off());
    PeerGuard guard =
        new PeerGuard(
            identity,
            directory,
            /* begins= */ !id.equals("joining"),
            new PeerGuard.Members() {
              @Override
              public boolean contains(String nodeId) {
                return !strangers.contains(nodeId);
              }

              @Override
              public Set<String> current() {
                return Set.of("n1", "n2", "n3");
              }
            },
            new PeerVersions(version, () -> clusterLevel),
            (from, nodeId, reason) -> refused.add(nodeId + " " + reason),
            stops::add);
    settings =
        new PeerSettings(
            id,
            address,
            GROUP,
            guard,
            new Service(),
            store(),
            new Supervision(id, failures::add),
            MAX_FRAME_BYTES,
            electionMillis,
            tls,
            new PeerClocks(Clock.systemUTC(), System::nanoTime),
            PromiseTrace.NONE,
            new SealedEntries(DirectoryKeys.off(), Path.of("log")));
    listener = new PeerListener(settings, server(), NetUtils.createSocketAddr(address));
    listener.start();
  }

  /** A store without snapshots, of a group whose members each entry names. */
  private SnapshotStore store() {
    SnapshotStore none = SnapshotStore.none(id);
    return new SnapshotStore() {
      @Override
      public List<SnapshotFile> list() throws IOException {
        return none.list();
      }

      @Override
      public CompletableFuture<SnapshotFile> take() {
        return none.take();
      }

      @Override
      public CompletableFuture<SnapshotFile> takeAfterEntry() {
        return none.takeAfterEntry();
      }

      @Override
      public byte[] configuration(long logIndex) {
        return membersEntry(logIndex).toByteArray();
      }
    };
  }

  static LogEntryProto membersEntry(long index) {
    return LogEntryProto.newBuilder()
        .setIndex(index)
        .setConfigurationEntry(RaftConfigurationProto.getDefaultInstance())
        .build();
  }

  /** Returns the way from this node to another one. */
  PeerLink linkTo(TestNode other) {
    return linkTo(other.id, other.address);
  }

  PeerLink linkTo(String other, String address) {
    return new PeerLink(settings, RaftPeer.newBuilder().setId(other).setAddress(address).build());
  }

  static AppendEntriesReplyProto reply(AppendEntriesRequestProto request) {
    return AppendEntriesReplyProto.newBuilder()
        .setMatchIndex(request.getServerRequest().getCallId())
        .build();
  }

  RaftServer server() {
    return (RaftServer)
        Proxy.newProxyInstance(
            RaftServer.class.getClassLoader(),
            new Class<?>[] {RaftServer.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "getId" -> RaftPeerId.valueOf(id);
                  case "getDivision" -> throw new IOException("it is in no group");
                  case "appendEntriesAsync" ->
                      appends.apply((AppendEntriesRequestProto) arguments[0]);
                  case "requestVote" -> {
                    votes.incrementAndGet();
                    yield voter.apply((RequestVoteRequestProto) arguments[0]);
                  }
                  case "installSnapshot" -> InstallSnapshotReplyProto.getDefaultInstance();
                  case "startLeaderElection" -> StartLeaderElectionReplyProto.getDefaultInstance();
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }

  private final class Service implements PeerService {
    @Override
    public long term() {
      return terms.incrementAndGet();
    }

    @Override
    public AppendEntriesReplyProto answer(
        AppendEntriesRequestProto request, AppendEntriesReplyProto reply) {
      return reply;
    }

    @Override
    public boolean tryAppend(AppendEntriesRequestProto request, Receiver receiver) {
      if (busy && request.getEntriesCount() > 0) {
        return false;
      }
      receiver.receive(request);
      return true;
    }

    @Override
    public void append(AppendEntriesRequestProto request, BooleanSupplier gone, Receiver receiver) {
      while (busy && !gone.getAsBoolean()) {
        Thread.onSpinWait();
      }
      receiver.receive(request);
    }

    @Override
    public boolean isSettled() {
      return settled;
    }

    @Override
    public boolean hasCaughtUp() {
      return caughtUp;
    }

    @Override
    public RequestVoteReplyProto vote(RequestVoteRequestProto request, Voter ratis)
        throws IOException {
      return ratis.vote(request);
    }

    @Override
    public boolean hasLost(String leader, long term, long logIndex) {
      asked.add(logIndex);
      try {
        holdLost.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      return lost;
    }

    @Override
    public void doubtLeader(String nodeId, long term) {}

    @Override
    public void standForElection(String nodeId, long term) {}

    @Override
    public <T> T installSnapshot(InstallSnapshotRequestProto request, SnapshotReceiver<T> receiver)
        throws IOException {
      installs.add(request);
      return receiver.receive(request);
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }
}
