package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.node.replica.TimeKeeper;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.WireFormatException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The heartbeats of one connection: each renews sessions and leases, and is acknowledged once this
 * node has proven that it leads. Knows whether the client keeps anything alive. The transport calls
 * it one frame at a time; proofs come from any thread.
 */
final class Heartbeats {
  /** What one heartbeat renews, and when it arrived. */
  private record Renewals(List<SessionId> sessions, List<LeaseId> leases, long arrivedNanos) {
    static Renewals of(Request.Heartbeat heartbeat, long arrivedNanos) {
      List<SessionId> sessions = new ArrayList<>(heartbeat.sessions().size());
      heartbeat.sessions().forEach(id -> sessions.add(new SessionId(requirePositive(id))));
      List<LeaseId> leases = new ArrayList<>(heartbeat.leases().size());
      heartbeat.leases().forEach(id -> leases.add(new LeaseId(requirePositive(id))));
      return new Renewals(sessions, leases, arrivedNanos);
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
  private final Workers workers;
  private final ReplyChannel replies;
  private boolean keeps;

  Heartbeats(
      TimeKeeper timeKeeper,
      Keepers keepers,
      Leadership leadership,
      Workers workers,
      ReplyChannel replies) {
    this.timeKeeper = requireNonNull(timeKeeper, "timeKeeper");
    this.keepers = requireNonNull(keepers, "keepers");
    this.leadership = requireNonNull(leadership, "leadership");
    this.workers = requireNonNull(workers, "workers");
    this.replies = requireNonNull(replies, "replies");
  }

  void heartbeat(Request.Heartbeat heartbeat, Consumer<Reply> answer) {
    Renewals renewals = Renewals.of(heartbeat, timeKeeper.now());
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
    List<Long> lostSessions = new ArrayList<>();
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
    List<Long> lostLeases = new ArrayList<>();
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

  /** The client is gone: it is told of nothing more. */
  void disconnected() {
    if (keeps) {
      workers.chore(() -> keepers.forget(replies));
    }
  }
}
