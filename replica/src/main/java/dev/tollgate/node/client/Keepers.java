package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.Notice;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.wire.Reply;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Which client of this node keeps each session and lease alive: the one whose connection renewed it
 * last. Tells that client when the session or the lease ends, and when the cluster changes. A
 * client that watches the locks of a lease is told of each lock that the lease loses. Thread-safe.
 */
final class Keepers {
  private final ClusterInfo cluster;
  private final Map<SessionId, ReplyChannel> sessions = new ConcurrentHashMap<>();
  private final Map<LeaseId, ReplyChannel> leases = new ConcurrentHashMap<>();

  /** No more than there are leases, and those of requests that are being answered. */
  private final Map<LeaseId, ReplyChannel> watchers = new ConcurrentHashMap<>();

  Keepers(ClusterInfo cluster) {
    this.cluster = requireNonNull(cluster, "cluster");
  }

  /** Remembers whom to tell when one of these ends, in place of any earlier keeper. */
  void keptBy(List<SessionId> keptSessions, List<LeaseId> keptLeases, ReplyChannel keeper) {
    keptSessions.forEach(session -> sessions.put(session, keeper));
    keptLeases.forEach(lease -> leases.put(lease, keeper));
  }

  /** Remembers whom to tell what one of these leases loses, in place of any earlier watcher. */
  void watchedBy(Collection<LeaseId> watched, ReplyChannel watcher) {
    watched.forEach(lease -> watchers.put(lease, watcher));
  }

  /** Takes back {@link #keptBy} for a session that is not alive here. */
  void forget(SessionId session) {
    sessions.remove(session);
  }

  /** Takes back {@link #keptBy} for a lease that is not alive here. */
  void forget(LeaseId lease) {
    leases.remove(lease);
  }

  /** Takes back {@link #watchedBy} for a lease that does not exist. */
  void forgetWatcher(LeaseId lease) {
    watchers.remove(lease);
  }

  /** Tells this client nothing more. */
  void forget(ReplyChannel gone) {
    sessions.values().removeIf(keeper -> keeper == gone);
    leases.values().removeIf(keeper -> keeper == gone);
    watchers.values().removeIf(watcher -> watcher == gone);
  }

  /**
   * Sends those that watch locks to the next leader: this node might not learn of losses any more.
   */
  void stoppedLeading(Reply.NotLeader elsewhere) {
    Set<ReplyChannel> all = new HashSet<>();
    watchers.forEach(
        (lease, watcher) -> {
          if (watchers.remove(lease, watcher)) {
            all.add(watcher);
          }
        });
    all.forEach(watcher -> watcher.push(elsewhere));
  }

  void noticed(Notice notice) {
    if (notice instanceof Notice.SessionEnded ended) {
      tell(sessions.remove(ended.session()), List.of(ended.session().value()), List.of());
    } else if (notice instanceof Notice.LeaseEnded ended) {
      ReplyChannel watcher = watchers.remove(ended.lease());
      ReplyChannel keeper = leases.remove(ended.lease());
      tell(keeper == null ? watcher : keeper, List.of(), List.of(ended.lease().value()));
    } else if (notice instanceof Notice.HoldEnded ended) {
      ReplyChannel watcher = watchers.get(ended.lease());
      if (watcher != null) {
        watcher.push(
            new Reply.LocksLost(List.of(ended.lease().value()), List.of(ended.token().value())));
      }
    } else if (notice instanceof Notice.ClusterChanged) {
      Reply.ClusterChanged event = new Reply.ClusterChanged(cluster.view());
      Set<ReplyChannel> all = new HashSet<>(sessions.values());
      all.addAll(leases.values());
      all.forEach(keeper -> keeper.push(event));
    }
  }

  private static void tell(
      @Nullable ReplyChannel keeper, List<Long> lostSessions, List<Long> lostLeases) {
    if (keeper != null) {
      keeper.push(new Reply.Lost(lostSessions, lostLeases));
    }
  }
}
