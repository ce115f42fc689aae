package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.ClusterState;
import dev.tollgate.core.Lease;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.UserName;
import dev.tollgate.node.replica.Facts;
import dev.tollgate.node.replica.StateAccess;
import dev.tollgate.node.replica.TimeKeeper;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import dev.tollgate.wire.WireFormatException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The heartbeats of one connection: each renews sessions and leases, and is acknowledged once this
 * node has proven that it leads. Also begins to watch what leases hold. Knows whether the client
 * keeps anything alive. The transport calls it one frame at a time; proofs come from any thread.
 */
final class Heartbeats {
  /**
   * What one heartbeat renews, and when it arrived.
   *
   * @param foreign what is another user's: it is not renewed, and lost to this client
   */
  private record Renewals(
      List<SessionId> sessions,
      List<LeaseId> leases,
      Reply.HeartbeatAck foreign,
      long arrivedNanos) {
    static Renewals of(Request.Heartbeat heartbeat, UserName user, Facts facts, long arrivedNanos) {
      List<Long> foreignSessions = new ArrayList<>();
      List<SessionId> sessions = new ArrayList<>(heartbeat.sessions().size());
      for (long number : heartbeat.sessions()) {
        SessionId id = new SessionId(requirePositive(number));
        if (facts.mayRenew(user, id)) {
          sessions.add(id);
        } else {
          foreignSessions.add(number);
        }
      }
      List<Long> foreignLeases = new ArrayList<>();
      List<LeaseId> leases = new ArrayList<>(heartbeat.leases().size());
      for (long number : heartbeat.leases()) {
        LeaseId id = new LeaseId(requirePositive(number));
        if (facts.mayRenew(user, id)) {
          leases.add(id);
        } else {
          foreignLeases.add(number);
        }
      }
      return new Renewals(
          sessions, leases, new Reply.HeartbeatAck(foreignSessions, foreignLeases), arrivedNanos);
    }

    private static long requirePositive(long id) {
      if (id <= 0) {
        throw new WireFormatException("id " + id);
      }
      return id;
    }
  }

  private final TimeKeeper timeKeeper;
  private final Keepers keepers;
  private final Leadership leadership;
  private final Facts facts;
  private final StateAccess state;
  private final Workers workers;
  private final ReplyChannel replies;
  private boolean keeps;

  Heartbeats(
      TimeKeeper timeKeeper,
      Keepers keepers,
      Leadership leadership,
      Facts facts,
      StateAccess state,
      Workers workers,
      ReplyChannel replies) {
    this.timeKeeper = requireNonNull(timeKeeper, "timeKeeper");
    this.keepers = requireNonNull(keepers, "keepers");
    this.leadership = requireNonNull(leadership, "leadership");
    this.facts = requireNonNull(facts, "facts");
    this.state = requireNonNull(state, "state");
    this.workers = requireNonNull(workers, "workers");
    this.replies = requireNonNull(replies, "replies");
  }

  void heartbeat(Request.Heartbeat heartbeat, UserName user, Consumer<Reply> answer) {
    Renewals renewals = Renewals.of(heartbeat, user, facts, timeKeeper.now());
    keeps = true;
    keepers.keptBy(renewals.sessions, renewals.leases, replies);
    renew(renewals, outcome -> {});
    leadership.prove(leads -> acknowledge(leads, renewals, answer));
  }

  private void acknowledge(boolean leads, Renewals renewals, Consumer<Reply> answer) {
    if (!leads) {
      answer.accept(leadership.notLeader());
      return;
    }
    Set<TimeKeeper.Renewal> outcomes = EnumSet.noneOf(TimeKeeper.Renewal.class);
    Reply.HeartbeatAck ack = renew(renewals, outcomes::add);
    if (outcomes.contains(TimeKeeper.Renewal.NOT_HERE)) {
      answer.accept(leadership.notLeader());
    } else if (outcomes.contains(TimeKeeper.Renewal.WITHOUT_OWN_LEASE)
        || outcomes.contains(TimeKeeper.Renewal.NOT_YET)) {
      leadership.awaitEntry(still -> workers.chore(() -> acknowledge(still, renewals, answer)));
    } else {
      answer.accept(ack);
    }
  }

  private Reply.HeartbeatAck renew(Renewals renewals, Consumer<TimeKeeper.Renewal> outcomes) {
    List<Long> lostSessions = new ArrayList<>(renewals.foreign.lostSessions());
    for (SessionId id : renewals.sessions) {
      TimeKeeper.Renewal outcome = timeKeeper.renew(id, renewals.arrivedNanos);
      outcomes.accept(outcome);
      if (outcome == TimeKeeper.Renewal.GONE) {
        lostSessions.add(id.value());
      }
      if (outcome == TimeKeeper.Renewal.GONE || outcome == TimeKeeper.Renewal.NOT_HERE) {
        keepers.forget(id);
      }
    }
    List<Long> lostLeases = new ArrayList<>(renewals.foreign.lostLeases());
    for (LeaseId id : renewals.leases) {
      TimeKeeper.Renewal outcome = timeKeeper.renew(id, renewals.arrivedNanos);
      outcomes.accept(outcome);
      if (outcome == TimeKeeper.Renewal.GONE) {
        lostLeases.add(id.value());
      }
      if (outcome == TimeKeeper.Renewal.GONE || outcome == TimeKeeper.Renewal.NOT_HERE) {
        keepers.forget(id);
      }
    }
    return new Reply.HeartbeatAck(lostSessions, lostLeases);
  }

  /**
   * Tells the client from now on what these leases lose, and then what they do not hold now. In
   * this order, so that no loss is missed.
   */
  void watchLocks(Request.WatchLocks request, UserName user, Consumer<Reply> answer) {
    Set<LeaseId> watched = new HashSet<>();
    for (long number : request.leases()) {
      LeaseId id = new LeaseId(Renewals.requirePositive(number));
      if (facts.mayRenew(user, id)) {
        watched.add(id);
      }
    }
    keeps = true;
    keepers.watchedBy(watched, replies);
    leadership.awaitState(
        leads ->
            workers.run(
                Workers.Kind.WATCHES,
                user,
                () -> answer.accept(leads ? notHeld(request, watched) : leadership.notLeader()),
                full -> answer.accept(new Reply.Failure(SqlState.BUSY, full))));
  }

  /**
   * What is another user's is lost to this client, and so is what a lease that is gone held. Looks
   * at some of it at a time, so that entries are applied meanwhile: what is lost meanwhile, the
   * client is told of too.
   */
  private Reply notHeld(Request.WatchLocks request, Set<LeaseId> watched) {
    List<Long> lostLeases = new ArrayList<>();
    List<Long> lostTokens = new ArrayList<>();
    int size = request.tokens().size();
    for (int from = 0; from < size; from += Limits.LOCKS_PER_LOOK) {
      List<Long> leases =
          request.leases().subList(from, Math.min(size, from + Limits.LOCKS_PER_LOOK));
      List<Long> tokens =
          request.tokens().subList(from, Math.min(size, from + Limits.LOCKS_PER_LOOK));
      List<Boolean> held = state.look(now -> held(now, leases, tokens, watched));
      for (int i = 0; i < held.size(); i++) {
        if (!held.get(i)) {
          lostLeases.add(leases.get(i));
          lostTokens.add(tokens.get(i));
        }
      }
    }
    return leadership.isAssumed()
        ? new Reply.LocksLost(lostLeases, lostTokens)
        : leadership.notLeader();
  }

  private List<Boolean> held(
      ClusterState now, List<Long> leases, List<Long> tokens, Set<LeaseId> watched) {
    List<Boolean> held = new ArrayList<>(leases.size());
    for (int i = 0; i < leases.size(); i++) {
      LeaseId id = new LeaseId(leases.get(i));
      // a foreign lease has a watcher of its own
      boolean own = watched.contains(id);
      Lease lease = own ? now.lease(id) : null;
      if (own && lease == null) {
        keepers.forgetWatcher(id);
      }
      held.add(lease != null && lease.holdsUnder(tokens.get(i)));
    }
    return held;
  }

  /** True if the client has sent heartbeats on this connection. */
  boolean keepsSomething() {
    return keeps;
  }

  /** The client is gone: it is told of nothing more. */
  void disconnected() {
    if (keeps) {
      workers.chore(() -> keepers.forget(replies));
    }
  }
}
