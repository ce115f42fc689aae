package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.LogConsumer;
import dev.tollgate.log.LogFailedException;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.Supervision;
import dev.tollgate.log.peer.NodeIdentity;
import dev.tollgate.log.peer.PeerGuard;
import dev.tollgate.log.peer.PeerVersions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How the log of this node ends: because it is closed, because the cluster has removed the node or
 * does not accept it, or because the node cannot go on. A node that cannot go on fails, and leaves
 * its group before it answers another node once more. Thread-safe.
 */
final class NodeEnd {
  private static final Logger LOG = LoggerFactory.getLogger(NodeEnd.class);
  private static final long POLL_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

  private final Path directory;
  private final LogConsumer consumer;
  private final NodeIdentity identity;
  private final OwnServer server;
  private final Supervision supervision;
  private final PeerGuard guard;
  private final AtomicBoolean failed = new AtomicBoolean();
  private volatile boolean closing;

  NodeEnd(RaftSettings settings, NodeIdentity identity, LogConsumer consumer, OwnServer server) {
    this.directory = settings.directory();
    this.consumer = requireNonNull(consumer, "consumer");
    this.identity = requireNonNull(identity, "identity");
    this.server = requireNonNull(server, "server");
    this.supervision = new Supervision(settings.nodeId(), this::fail);
    this.guard =
        new PeerGuard(
            identity,
            directory,
            !settings.peers().isEmpty(),
            server.members(),
            new PeerVersions(consumer.version(), consumer::featureLevel),
            (from, nodeId, reason) -> consumer.refusedPeer(from, nodeId, reason.name()),
            this::refused);
  }

  String nodeId() {
    return identity.nodeId();
  }

  /** Says which nodes this one accepts, and whether the others accept it. */
  PeerGuard guard() {
    return guard;
  }

  /** Fails this node if a bug ends one of its threads. */
  Supervision supervision() {
    return supervision;
  }

  /** From here on a shutdown is no failure. */
  void closing() {
    closing = true;
  }

  boolean isClosing() {
    return closing;
  }

  /** True once this node stops, for whatever reason. */
  boolean hasBegun() {
    return closing || guard.hasStopped() || failed.get() || !server.isServing();
  }

  /** Reports the first failure; later ones follow from it. */
  void fail(Throwable cause) {
    if (failed.compareAndSet(false, true)) {
      consumer.failed(cause);
    }
  }

  /** Fails, and takes no more part in the group once this returns. */
  void failAndLeave(Throwable cause) {
    fail(cause);
    leaveGroup();
  }

  /**
   * Fails after a failed write. The thread that wrote calls this before Ratis goes on: an entry
   * that was not written is in memory all the same. If the leader sent it again, Ratis would
   * acknowledge it as if it were on disk (docs/adr/0025).
   */
  void cannotWrite(String what, Throwable cause) {
    failAndLeave(new LogFailedException(what, directory, cause));
  }

  void cannotAppend(Throwable failure) {
    failedBelow("appends no more entries to its log", failure);
    leaveGroup();
  }

  /**
   * Ratis closes its log by itself after an exception in a thread of its own, and when the cluster
   * has removed this node. It also closes the log before it reports that the process stood still.
   */
  void logWasClosed() {
    failedBelow("has closed its log", null);
  }

  private void failedBelow(String what, @Nullable Throwable cause) {
    if (!closing && !guard.hasStopped() && server.isMember() && server.isServing()) {
      fail(
          new IOException(
              "Ratis "
                  + what
                  + " in "
                  + directory
                  + "; the lines before this one say why. Start the node again: it writes the end of"
                  + " its log to the disk anew, and catches up by itself. If it stops like this"
                  + " again, report that",
              cause));
    }
  }

  /** Ends this node, because the others do not accept it. */
  private void refused(IOException why) {
    supervision
        .thread(
            "tollgate-refused",
            () -> {
              if (!closing) {
                failAndLeave(why);
              }
            })
        .start();
  }

  /**
   * Ends a node that has just started if its log says that it was removed: Ratis would wait forever
   * for a leader to add it. A node that was stopped while it joined is right to wait for that.
   */
  void leaveIfRemoved() throws IOException {
    RaftConfiguration conf = server.division().getRaftConf();
    boolean wasMember =
        OwnServer.hasPeer(conf.getPreviousPeers(), server.get().getId())
            || identity.known().incarnations().containsKey(identity.nodeId());
    if (wasMember && !conf.getCurrentPeers().isEmpty() && !server.isMember()) {
      guard.leaves();
    }
  }

  /** Says why Ratis has shut its server down, unless this node has closed it. */
  void serverHasShutDown() {
    if (closing || guard.hasStopped()) {
      return;
    }
    try {
      RaftServer.Division division = server.division();
      RaftConfiguration conf = division.getRaftConf();
      boolean member = OwnServer.hasPeer(conf.getCurrentPeers(), division.getId());
      if (!member && division.getRaftLog().getLastCommittedIndex() >= conf.getLogEntryIndex()) {
        guard.removed();
      } else if (!member) {
        guard.leaves();
      } else {
        fail(
            new IOException(
                "the Raft server has shut down, because its process stood still for a minute"));
      }
    } catch (IOException e) {
      fail(e);
    }
  }

  /**
   * Takes no more part in the group once this returns. If this node leads, the others miss its
   * heartbeats from now on.
   */
  private void leaveGroup() {
    RaftServer.Division division;
    try {
      division = server.division();
    } catch (IOException e) {
      LOG.info("{}: has left its group already", server.get().getId(), e);
      return;
    }
    // closing waits for this very thread
    Thread leaving = supervision.thread("tollgate-leave-group", division::close);
    leaving.start();
    while (division.getInfo().isAlive() && leaving.isAlive()) {
      LockSupport.parkNanos(POLL_NANOS);
    }
  }
}
