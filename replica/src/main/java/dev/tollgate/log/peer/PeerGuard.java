package dev.tollgate.log.peer;

import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.core.command.UniqueId;
import dev.tollgate.log.RemovedException;
import dev.tollgate.log.StrangerException;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides which nodes this node talks to: those of its cluster, with the data directories that the
 * cluster knows. Any other message is refused before Ratis sees it, so it plays no part in an
 * election, a commit, or a proof of leadership. Thread-safe; never waits for an entry.
 *
 * <p>Nothing that one other node says stops a node that knows its cluster, marks it as removed, or
 * has it give up its data (ADR 0144). It stops when its own log says that it was removed, or when a
 * majority of its members says at their addresses that it was removed, has another data directory,
 * or is of another cluster: {@link Verdicts}. A node that knows no cluster has nothing to lose, and
 * may have lost all that it had. It stops as soon as any node knows it by another directory.
 */
public final class PeerGuard {
  private static final Logger LOG = LoggerFactory.getLogger(PeerGuard.class);

  /**
   * Why a message is refused. The names go over the wire, to strangers too: a node whose directory
   * was emptied has no key, and has to learn that it must stop.
   */
  public enum Reason {
    /** Sender and receiver belong to different clusters. */
    OTHER_CLUSTER,
    /** The message is for another node, which had this address. */
    OTHER_NODE,
    /** The receiver is not the node that the cluster knows under its name. */
    RECEIVER_UNKNOWN,
    /** The sender is not the node that the cluster knows under its name. */
    SENDER_UNKNOWN,
    /** The cluster has removed the sender. */
    SENDER_REMOVED,
    /** The sender does not prove that it is of the cluster. */
    SENDER_UNPROVEN,
    /**
     * As one of the three before, but the cluster of the node that says so has no id yet. It may be
     * another cluster, so nobody stops.
     */
    UNNAMED_CLUSTER,
    /** The sender would add the receiver, but the receiver begins a cluster of its own. */
    NOT_JOINING,
    /** The sender would add the receiver, whose version does not know what the cluster does. */
    EARLIER_VERSION;

    /**
     * Returns the reason with this name. One that only a later version knows stops nobody, as that
     * of a cluster without an id.
     */
    public static Reason of(String name) {
      for (Reason reason : values()) {
        if (reason.name().equals(name)) {
          return reason;
        }
      }
      return UNNAMED_CLUSTER;
    }

    /** This reason, if the node that gives it knows its cluster. */
    Reason saidIn(@Nullable UniqueId cluster) {
      return cluster == null ? UNNAMED_CLUSTER : this;
    }
  }

  /**
   * An answer to a message that is not accepted.
   *
   * @param message for the log of this node, and for a caller that proves that it is of the cluster
   * @param forStrangers the message without ids, for any other caller
   */
  public record Refusal(Reason reason, String message, String forStrangers) {
    /** A refusal whose message has no id. */
    public Refusal(Reason reason, String message) {
      this(reason, message, message);
    }

    /** As a stranger gets it. */
    Refusal withoutIds() {
      return new Refusal(reason, forStrangers);
    }
  }

  /** A node that calls this one. */
  public interface Caller {
    PeerCredentials credentials();

    /** Where its connection comes from. */
    InetAddress address();

    /** True if it has proven that it knows the key of the cluster that this node knows. */
    boolean proves(ClusterIdentity known);
  }

  /** The members of the group as this node knows them. */
  public interface Members {
    /** True for a member, also for one that is about to leave. */
    boolean contains(String nodeId);

    /** The members without those that are about to leave; empty if this node knows of none. */
    Set<String> current();
  }

  /** Is told of callers that are refused. Thread-safe, and never waits. */
  public interface RefusalListener {
    /**
     * @param nodeId as the caller calls itself
     */
    void refused(InetAddress from, String nodeId, Reason reason);
  }

  private final NodeIdentity self;
  private final Path data;
  private final boolean begins;
  private final Members members;
  private final CallerCheck check;
  private final PeerVersions versions;
  private final Consumer<IOException> stop;
  private final AtomicBoolean stopped = new AtomicBoolean();
  private final LoggedRefusals logged = new LoggedRefusals(System::nanoTime);
  private final Verdicts verdicts;
  private final MemberAddresses addresses;
  private final RefusalListener refusals;
  private final AdminUrls adminUrls = new AdminUrls();

  /**
   * @param begins whether the node was started to begin a cluster, alone or with others
   * @param versions what this node says of its version, and what others have said
   * @param refusals is told of each message that is refused
   * @param stop called once, with a {@link RemovedException} or a {@link StrangerException}, by a
   *     thread that talks with a node or of Ratis; must not wait
   */
  public PeerGuard(
      NodeIdentity self,
      Path data,
      boolean begins,
      Members members,
      PeerVersions versions,
      RefusalListener refusals,
      Consumer<IOException> stop) {
    this.self = self;
    this.data = data;
    this.begins = begins;
    this.members = members;
    this.check = new CallerCheck(self, members);
    this.versions = versions;
    this.verdicts = new Verdicts(self.nodeId(), members, System::nanoTime);
    this.addresses = new MemberAddresses(members, System::nanoTime);
    this.refusals = refusals;
    this.stop = stop;
  }

  /** What this node and others know. */
  public PeerVersions versions() {
    return versions;
  }

  /** Where members call from. */
  MemberAddresses addresses() {
    return addresses;
  }

  /** Returns what this node says with a message to another node. */
  public PeerCredentials credentialsFor(String to) {
    return PeerCredentials.of(self, to);
  }

  /** Returns why a message is refused, as the caller may know it, or null if it is accepted. */
  public @Nullable Refusal check(Caller caller) {
    PeerCredentials sender = caller.credentials();
    Refusal refusal = check.refusal(caller);
    if (refusal == null) {
      adminUrls.note(sender.from(), sender.adminUrl(), members.contains(sender.from()));
      return null;
    }
    refusals.refused(caller.address(), sender.from(), refusal.reason());
    logOnce(
        sender.from(),
        refusal,
        RefusalAdvice.onRefusing(sender.from(), refusal.reason(), !knowsNoCluster()));
    if (refusal.reason() == Reason.RECEIVER_UNKNOWN && knowsNoCluster()) {
      stop(StrangerException.anotherIncarnation(self.nodeId(), data, refusal.message()));
    }
    ClusterIdentity known = self.known();
    return known.key() == null || caller.proves(known) ? refusal : refusal.withoutIds();
  }

  /** Where other members serve their admin addresses: those that have called this node. */
  public SortedMap<String, String> adminUrls() {
    return adminUrls.all();
  }

  /** Returns why this node cannot be added to the cluster of the sender, or null if it can. */
  public @Nullable Refusal checkJoining(Caller caller) {
    Refusal refusal = check(caller);
    if (refusal != null || !begins || self.clusterId() != null) {
      return refusal;
    }
    Refusal begun =
        new Refusal(
            Reason.NOT_JOINING,
            "node " + self.nodeId() + " was started to begin a cluster of its own");
    String from = caller.credentials().from();
    logOnce(from, begun, RefusalAdvice.onRefusing(from, begun.reason(), !knowsNoCluster()));
    return begun;
  }

  /** What this node knows of the cluster and its nodes. */
  ClusterIdentity known() {
    return self.known();
  }

  NodeIdentity self() {
    return self;
  }

  /**
   * Returns why this node does not call a node that would serve it, or null if it does: a node that
   * the cluster knows by its directory has the key.
   *
   * @param proven whether that node has proven that it is of the cluster
   */
  @Nullable String doubt(String nodeId, boolean proven) {
    ClusterIdentity known = self.known();
    return proven || known.key() == null || !known.incarnations().containsKey(nodeId)
        ? null
        : "node " + nodeId + " does not prove that it is of this cluster";
  }

  /** True if this node has not learned of any cluster, or has lost all that it knew. */
  private boolean knowsNoCluster() {
    ClusterIdentity known = self.known();
    return known.key() == null && known.clusterId() == null && known.incarnations().isEmpty();
  }

  /**
   * Records that another node has refused a message of this node.
   *
   * @param proven whether that node has proven that it is of the cluster, and is the member that
   *     the cluster knows. One of another cluster cannot.
   */
  public void refusedBy(String nodeId, Refusal refusal, boolean proven) {
    Reason reason = refusal.reason();
    logOnce(
        nodeId,
        refusal,
        knowsNoCluster()
            ? RefusalAdvice.CHECK
            : RefusalAdvice.onRefused(nodeId, reason, verdicts.needed()));
    boolean heard = proven || self.known().key() == null;
    switch (reason) {
      case SENDER_REMOVED -> {
        if (heard && verdicts.isGiven(nodeId, reason)) {
          removed();
        } else if (knowsNoCluster()) {
          stop(new RemovedException(self.nodeId()));
        }
      }
      case SENDER_UNKNOWN -> {
        if ((heard && verdicts.isGiven(nodeId, reason)) || knowsNoCluster()) {
          stop(StrangerException.anotherIncarnation(self.nodeId(), data, refusal.message()));
        }
      }
      case OTHER_CLUSTER -> {
        if (verdicts.isGiven(nodeId, reason)) {
          stop(StrangerException.amongOthers(self.nodeId(), data, refusal.message()));
        }
      }
      case OTHER_NODE,
          RECEIVER_UNKNOWN,
          SENDER_UNPROVEN,
          UNNAMED_CLUSTER,
          NOT_JOINING,
          EARLIER_VERSION -> {}
    }
  }

  /**
   * Records that a leader tells this node to end, because it is no member. One node says so, and it
   * counts only if the log of this node says so too.
   *
   * @return true if it counts
   */
  boolean toldToEnd(String leader) {
    Set<String> current = members.current();
    if (!current.isEmpty() && !current.contains(self.nodeId())) {
      leaves();
      return true;
    }
    Refusal told =
        new Refusal(Reason.SENDER_REMOVED, "node " + leader + " says that this node is no member");
    logOnce(leader, told, RefusalAdvice.onRefused(leader, told.reason(), verdicts.needed()));
    return false;
  }

  /** Records that a node has accepted a message, so it belongs to this cluster. */
  public void acceptedBy(String nodeId) {
    verdicts.takeBack(nodeId);
  }

  /** Stops this node, because its own log says that it was or will be removed. */
  public void leaves() {
    stop(new RemovedException(self.nodeId()));
  }

  /** Stops this node, because the cluster has removed it: its directory is of no more use. */
  public void removed() {
    try {
      self.markRemoved();
    } catch (IOException e) {
      LOG.warn("{}: cannot note in {} that this node was removed", self.nodeId(), data, e);
    }
    stop(new RemovedException(self.nodeId()));
  }

  /**
   * Stops this node, because it lacks an entry that it has acknowledged. It may have forgotten its
   * votes with the entry, so it does not start again either.
   */
  public void lost(long logIndex) {
    try {
      self.noteEntry(logIndex);
    } catch (IOException e) {
      LOG.warn("{}: cannot note in {} that entries were lost", self.nodeId(), data, e);
    }
    stop(StrangerException.withoutAcknowledged(self.nodeId(), data, logIndex));
  }

  /** True if this guard has stopped the node. */
  public boolean hasStopped() {
    return stopped.get();
  }

  private void stop(IOException why) {
    if (stopped.compareAndSet(false, true)) {
      stop.accept(why);
    }
  }

  private void logOnce(String nodeId, Refusal refusal, String advice) {
    if (logged.add(nodeId + " " + refusal.reason())) {
      LOG.warn(
          "{}: does not talk with {}: {}. {}", self.nodeId(), nodeId, refusal.message(), advice);
    }
  }
}
