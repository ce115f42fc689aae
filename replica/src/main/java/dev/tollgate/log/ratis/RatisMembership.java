package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.log.EntryHold;
import dev.tollgate.log.Membership;
import dev.tollgate.log.MembershipException;
import dev.tollgate.log.NotLeadingException;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.SilentMembersException;
import dev.tollgate.log.peer.PeerTransport;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.apache.ratis.proto.RaftProtos.RaftPeerRole;
import org.apache.ratis.proto.RaftProtos.ServerRpcProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.SetConfigurationRequest;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.protocol.exceptions.LeaderNotReadyException;
import org.apache.ratis.protocol.exceptions.LeaderSteppingDownException;
import org.apache.ratis.protocol.exceptions.NotLeaderException;
import org.apache.ratis.protocol.exceptions.ReconfigurationInProgressException;
import org.apache.ratis.protocol.exceptions.ReconfigurationTimeoutException;
import org.apache.ratis.protocol.exceptions.SetConfigurationException;
import org.apache.ratis.protocol.exceptions.TransferLeadershipException;
import org.apache.ratis.server.RaftServer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The membership of a Ratis group, changed one node at a time. */
final class RatisMembership implements Membership {
  private static final Logger LOG = LoggerFactory.getLogger(RatisMembership.class);

  /** How long a joining node may be silent; its change of the members is under way meanwhile. */
  static final long CATCH_UP_MILLIS = 120_000;

  /**
   * How many entries a joining node may lack when it is made a member. From then on a leader that
   * was alone commits nothing without it. A node far away lacks what is committed during a round
   * trip.
   */
  static final int CATCH_UP_ENTRIES = 256;

  /** How long leadership is offered before the transfer fails. */
  private static final long TRANSFER_MILLIS = 10_000;

  /** How long entries are held back for one offer. */
  private static final long OFFER_MILLIS = 1_000;

  /** How long entries may pass between two offers. */
  private static final long PAUSE_MILLIS = 100;

  /** How long leadership is offered before this node stops without a successor. */
  private static final long RESIGN_MILLIS = 2_000;

  /** A follower that the leader has not heard from for this long may have been stopped too. */
  private static final long RECENT_MILLIS = 500;

  /** The leader hears from each follower several times in this time, unless a machine stalls. */
  private static final long PROBE_MILLIS = 1_000;

  /** How long the leader waits for silent members that a change needs. */
  private static final long ANSWER_MILLIS = 10_000;

  private final RaftServer server;
  private final RaftGroupId group;
  private final RaftSettings settings;
  private final @Nullable PeerTransport transport;
  private final Supplier<ClusterIdentity> state;
  private final EntryHold hold;
  private volatile @Nullable String successorId;
  private final ClientId clientId = ClientId.randomId();
  private final AtomicLong callIds = new AtomicLong();

  /**
   * @param transport null for a node that stays alone, and adds none
   * @param state what the last applied entry says; clients hear of that before the file of the
   *     identity says it
   * @param hold holds entries back while leadership is handed over
   */
  RatisMembership(
      RaftServer server,
      RaftGroupId group,
      RaftSettings settings,
      @Nullable PeerTransport transport,
      Supplier<ClusterIdentity> state,
      EntryHold hold) {
    this.transport = transport;
    this.state = state;
    this.hold = hold;
    this.server = server;
    this.group = group;
    this.settings = settings;
  }

  /** A change that may fail before Ratis is asked. */
  private interface Change {
    CompletableFuture<@Nullable RaftClientReply> start() throws IOException, MembershipException;
  }

  /**
   * Waits while another node is added. That may be the same node, started again while the leader
   * still waits for it.
   */
  @Override
  public CompletableFuture<Void> add(String nodeId, String raftAddress) {
    return add(
        nodeId, raftAddress, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CATCH_UP_MILLIS));
  }

  private CompletableFuture<Void> add(String nodeId, String raftAddress, long untilNanos) {
    JoiningNode joining;
    try {
      joining = JoiningNode.of(nodeId, raftAddress);
      joining.requireNeverRemoved(state.get());
    } catch (MembershipException e) {
      return CompletableFuture.failedFuture(e);
    }
    return attempt(
            "node " + nodeId + " at " + raftAddress,
            () -> {
              RaftPeer member = find(nodeId);
              if (member != null && member.getAddress().equals(raftAddress)) {
                return CompletableFuture.completedFuture(null);
              }
              joining.requireNew(current());
              joining.requireJoining(requireNonNull(transport));
              // while the node answered, another one may have been added
              Collection<RaftPeer> current = current();
              joining.requireNew(current);
              requireMajority(current, /* joining= */ 1, "node " + nodeId + " is not added");
              List<RaftPeer> wanted = new ArrayList<>(current);
              wanted.add(joining.peer());
              return change(current, wanted);
            })
        .exceptionallyCompose(
            failure ->
                isTurnOfAnother(failure) && System.nanoTime() < untilNanos
                    ? add(nodeId, raftAddress, untilNanos)
                    : CompletableFuture.failedFuture(failure));
  }

  private static boolean isTurnOfAnother(Throwable failure) {
    return failure instanceof CompletionException
        && failure.getCause() instanceof MembershipException refused
        && isAnotherChange(refused.getCause());
  }

  /**
   * True if another change is under way, or came after the members were read and before they were
   * changed.
   */
  private static boolean isAnotherChange(@Nullable Throwable cause) {
    return cause instanceof ReconfigurationInProgressException
        || cause instanceof SetConfigurationException;
  }

  @Override
  public CompletableFuture<Void> remove(String nodeId) {
    return attempt(
        "node " + nodeId,
        () -> {
          Collection<RaftPeer> current = current();
          List<RaftPeer> rest = new ArrayList<>(current);
          if (!rest.removeIf(peer -> peer.getId().toString().equals(nodeId))) {
            if (state.get().removed().contains(nodeId)) {
              return CompletableFuture.completedFuture(null);
            }
            throw new MembershipException(
                "node " + nodeId + " is no member; members are " + names(current));
          }
          if (rest.isEmpty()) {
            throw new MembershipException(
                "node " + nodeId + " is the only member: stop it instead");
          }
          requireMajority(rest, /* joining= */ 0, "node " + nodeId + " is not removed");
          return nodeId.equals(settings.nodeId()) ? leave(furthest(rest)) : change(current, rest);
        });
  }

  @Override
  public CompletableFuture<Void> transferLeadership(String nodeId) {
    return attempt("node " + nodeId, () -> handOver(requireMember(nodeId), TRANSFER_MILLIS));
  }

  @Override
  public CompletableFuture<Void> replaceLeader(String nodeId) {
    return attempt(
        "another node",
        () -> {
          RaftPeer leader = requireMember(nodeId);
          if (!leader.getId().equals(server.getId())) {
            return CompletableFuture.completedFuture(null);
          }
          List<RaftPeer> others = new ArrayList<>(current());
          others.removeIf(peer -> peer.getId().equals(server.getId()));
          return handOver(furthest(others), TRANSFER_MILLIS);
        });
  }

  private RaftPeer requireMember(String nodeId) throws IOException, MembershipException {
    RaftPeer member = find(nodeId);
    if (member == null) {
      throw new MembershipException(
          "node " + nodeId + " is no member; members are " + names(current()));
    }
    return member;
  }

  @Override
  public CompletableFuture<Void> resign() {
    if (!leads() || isAlone()) {
      return CompletableFuture.completedFuture(null);
    }
    try {
      Collection<RaftPeer> members = current();
      Collection<String> silent = silentFor(RECENT_MILLIS);
      List<RaftPeer> left = new ArrayList<>(members);
      left.removeIf(
          peer -> peer.getId().equals(server.getId()) || silent.contains(peer.getId().toString()));
      if (left.size() <= members.size() / 2) {
        LOG.info(
            "{}: stops without a successor: of {} nodes, {} would be left",
            settings.nodeId(),
            members.size(),
            left.size());
        return CompletableFuture.completedFuture(null);
      }
      RaftPeer successor = furthest(left);
      LOG.info(
          "{}: hands leadership over to {}, because it stops",
          settings.nodeId(),
          successor.getId());
      return handOver(successor, RESIGN_MILLIS)
          .thenAccept(
              refusal -> {
                if (refusal != null) {
                  throw new CompletionException(refusal.getException());
                }
              });
    } catch (IOException | MembershipException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** The node to which leadership is being offered, or null. */
  @Nullable String successorId() {
    return successorId;
  }

  /** True if no other node can become leader. */
  boolean isAlone() {
    try {
      var conf = division().getRaftConf();
      return conf.getCurrentPeers(RaftPeerRole.FOLLOWER).size() == 1
          && conf.getPreviousPeers(RaftPeerRole.FOLLOWER).size() <= 1
          && conf.getPeer(server.getId(), RaftPeerRole.FOLLOWER) != null;
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Starts a change once the members that it needs have answered a heartbeat sent after the request
   * for the change. Completes on another thread: Ratis completes the change while it holds its own
   * monitor. A thread that then proposed an entry would wait for that monitor forever.
   */
  private CompletableFuture<Void> attempt(String what, Change change) {
    if (!leads()) {
      return CompletableFuture.failedFuture(new NotLeadingException());
    }
    return afterProbe(change, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ANSWER_MILLIS))
        .handleAsync(
            (reply, failure) -> {
              Throwable cause =
                  failure instanceof CompletionException ? failure.getCause() : failure;
              if (reply != null && !reply.isSuccess()) {
                cause = reply.getException();
              }
              if (cause != null) {
                throw new CompletionException(explained(what, cause));
              }
              return null;
            });
  }

  /**
   * @param untilNanos when members that do not answer are considered dead
   */
  private static CompletableFuture<@Nullable RaftClientReply> afterProbe(
      Change change, long untilNanos) {
    Executor afterProbe = CompletableFuture.delayedExecutor(PROBE_MILLIS, TimeUnit.MILLISECONDS);
    return CompletableFuture.completedFuture(change)
        .thenComposeAsync(RatisMembership::started, afterProbe)
        .exceptionallyCompose(
            failure ->
                failure instanceof CompletionException
                        && failure.getCause() instanceof SilentMembersException
                        && System.nanoTime() - untilNanos < 0
                    ? afterProbe(change, untilNanos)
                    : CompletableFuture.failedFuture(failure));
  }

  private static CompletableFuture<@Nullable RaftClientReply> started(Change change) {
    try {
      return change.start();
    } catch (IOException | MembershipException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private static Throwable explained(String what, Throwable cause) {
    if (cause instanceof NotLeaderException
        || cause instanceof LeaderNotReadyException
        || cause instanceof LeaderSteppingDownException) {
      return new NotLeadingException(cause);
    }
    if (isAnotherChange(cause)) {
      return new MembershipException(
          "another change of the members is under way: try again when it is done", cause);
    }
    if (cause instanceof ReconfigurationTimeoutException) {
      return new MembershipException(
          what
              + " did not catch up, because it was silent for "
              + CATCH_UP_MILLIS
              + " ms, so nothing has changed: is it running, started with --join, and reachable"
              + " from the leader?");
    }
    if (cause instanceof TransferLeadershipException) {
      return new MembershipException(
          what
              + " did not take over within "
              + TRANSFER_MILLIS
              + " ms, so the leader leads on: is it running and up to date?");
    }
    return cause;
  }

  private CompletableFuture<@Nullable RaftClientReply> change(
      Collection<RaftPeer> current, List<RaftPeer> wanted) throws IOException {
    return server.setConfigurationAsync(
        new SetConfigurationRequest(
            clientId,
            server.getId(),
            group,
            callIds.incrementAndGet(),
            SetConfigurationRequest.Arguments.newBuilder()
                .setMode(SetConfigurationRequest.Mode.COMPARE_AND_SET)
                .setServersInCurrentConf(List.copyOf(current))
                .setServersInNewConf(whereTheyAre(wanted))
                .build()));
  }

  /** Corrects the address of this node, which may have changed with a restart. */
  private List<RaftPeer> whereTheyAre(List<RaftPeer> peers) {
    String own = settings.raftAddress();
    return peers.stream()
        .map(
            peer ->
                peer.getId().equals(server.getId()) && own != null
                    ? RaftPeer.newBuilder(peer).setAddress(own).build()
                    : peer)
        .toList();
  }

  /**
   * Offers leadership to another node until it takes leadership. Entries are held back during each
   * offer, because a successor must have all of them. Entries pass between two offers, so clients
   * wait for one offer at most.
   *
   * @param millis how long it is offered in vain
   * @return completes, on another thread than those of Ratis, with null once the node leads, or
   *     with the last, unsuccessful reply of Ratis once the time is over; exceptionally if Ratis
   *     gives no reply, or if this node no longer leads and the other node does not lead either
   */
  private CompletableFuture<@Nullable RaftClientReply> handOver(RaftPeer to, long millis) {
    return offer(to, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis));
  }

  /** Hands leadership over; the next leader goes on with the removal. */
  private CompletableFuture<@Nullable RaftClientReply> leave(RaftPeer to) {
    return handOver(to, TRANSFER_MILLIS)
        .thenCompose(moved -> CompletableFuture.failedFuture(new NotLeadingException()));
  }

  private CompletableFuture<@Nullable RaftClientReply> offer(RaftPeer to, long deadlineNanos) {
    return hold.begin()
        .completeOnTimeout(null, OFFER_MILLIS, TimeUnit.MILLISECONDS)
        .thenComposeAsync(drained -> offerNow(to))
        // not on a Ratis thread, which may hold what an entry needs to be proposed
        .whenCompleteAsync(
            (reply, failure) -> {
              successorId = null;
              hold.end();
            })
        .thenCompose(reply -> answered(to, deadlineNanos, reply));
  }

  private CompletableFuture<RaftClientReply> offerNow(RaftPeer to) {
    successorId = to.getId().toString();
    try {
      return server
          .transferLeadershipAsync(
              new TransferLeadershipRequest(
                  clientId,
                  server.getId(),
                  group,
                  callIds.incrementAndGet(),
                  to.getId(),
                  OFFER_MILLIS))
          // entries must not be held back forever, whatever Ratis does
          .orTimeout(2 * OFFER_MILLIS, TimeUnit.MILLISECONDS);
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private CompletableFuture<@Nullable RaftClientReply> answered(
      RaftPeer to, long deadlineNanos, RaftClientReply answer) {
    if (answer.isSuccess() || isLeader(to)) {
      return CompletableFuture.completedFuture(null);
    }
    LOG.info(
        "{}: {} did not take over: {}",
        settings.nodeId(),
        to.getId(),
        answer.getException().getMessage());
    if (!leads()) {
      // a third node was elected, and the request may be repeated there
      return CompletableFuture.failedFuture(new NotLeadingException(answer.getException()));
    }
    if (System.nanoTime() - deadlineNanos >= 0) {
      return CompletableFuture.completedFuture(answer);
    }
    Executor afterPause = CompletableFuture.delayedExecutor(PAUSE_MILLIS, TimeUnit.MILLISECONDS);
    return CompletableFuture.runAsync(() -> {}, afterPause)
        .thenCompose(paused -> offer(to, deadlineNanos));
  }

  private boolean isLeader(RaftPeer peer) {
    try {
      return peer.getId().equals(division().getInfo().getLeaderId());
    } catch (IOException e) {
      return false;
    }
  }

  private RaftPeer furthest(Collection<RaftPeer> candidates)
      throws IOException, MembershipException {
    Map<RaftPeerId, Long> commits = new TreeMap<>(Comparator.comparing(RaftPeerId::toString));
    division()
        .getCommitInfos()
        .forEach(
            info ->
                commits.put(RaftPeerId.valueOf(info.getServer().getId()), info.getCommitIndex()));
    Collection<String> silent = silent();
    Optional<RaftPeer> best =
        candidates.stream()
            .filter(peer -> !silent.contains(peer.getId().toString()))
            .max(Comparator.comparing(peer -> commits.getOrDefault(peer.getId(), -1L)));
    if (best.isEmpty()) {
      throw candidates.isEmpty()
          ? new MembershipException("there is no other member")
          : new SilentMembersException("there is no other member that answers the leader");
    }
    return best.get();
  }

  /**
   * Rejects a change after which too few members would answer to agree on anything.
   *
   * @param joining members beyond these, which will have to answer to become members
   */
  private void requireMajority(Collection<RaftPeer> members, int joining, String consequence)
      throws IOException, MembershipException {
    Collection<String> silent = silent();
    List<RaftPeer> dead =
        members.stream().filter(peer -> silent.contains(peer.getId().toString())).toList();
    int size = members.size() + joining;
    int majority = size / 2 + 1;
    if (size - dead.size() < majority) {
      throw new SilentMembersException(
          consequence
              + ": of the "
              + size
              + " members that there would be, only "
              + (size - dead.size())
              + " answer the leader, and "
              + majority
              + " are needed to agree on anything. Start "
              + names(dead)
              + " again, or remove it first");
    }
  }

  /** Returns the members that the leader has not heard from since the change was requested. */
  private List<String> silent() throws IOException {
    return silentFor(PROBE_MILLIS);
  }

  private List<String> silentFor(long millis) throws IOException {
    return division().getInfo().getRoleInfoProto().getLeaderInfo().getFollowerInfoList().stream()
        .filter(follower -> follower.getLastRpcElapsedTimeMs() > millis)
        .map(ServerRpcProto::getId)
        .map(id -> id.getId().toStringUtf8())
        .toList();
  }

  private static String names(Collection<RaftPeer> peers) {
    return peers.stream().map(peer -> peer.getId().toString()).sorted().collect(joining(", "));
  }

  private @Nullable RaftPeer find(String nodeId) {
    try {
      return division().getRaftConf().getPeer(RaftPeerId.valueOf(nodeId), RaftPeerRole.FOLLOWER);
    } catch (IOException e) {
      return null;
    }
  }

  private Collection<RaftPeer> current() throws IOException {
    return division().getRaftConf().getCurrentPeers(RaftPeerRole.FOLLOWER);
  }

  private boolean leads() {
    try {
      return division().getInfo().isLeaderReady();
    } catch (IOException e) {
      return false;
    }
  }

  private RaftServer.Division division() throws IOException {
    return server.getDivision(group);
  }
}
