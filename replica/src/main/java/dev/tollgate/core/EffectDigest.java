package dev.tollgate.core;

import static dev.tollgate.core.command.Mixing.mix;

import dev.tollgate.core.command.FencingToken;
import dev.tollgate.core.command.LogPosition;
import dev.tollgate.core.command.Notice;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.SessionId;
import java.util.List;

/**
 * The digest of what all commands so far have done: their outcomes and notices, the changes of
 * leases and locks, and the changed rows. A part of the replicated state. The wording of SQL errors
 * is left out, because it may differ between replicas.
 */
final class EffectDigest {
  private long value;

  long value() {
    return value;
  }

  void restore(long digest) {
    value = digest;
  }

  /** Adds a number that says what a command changed. */
  void add(long change) {
    value = mix(value, change);
  }

  void add(LogPosition at) {
    add(at.logIndex());
    add(at.ordinal());
    add(at.timeMicros());
  }

  void add(Outcome outcome) {
    if (outcome instanceof Outcome.SessionOpened opened) {
      add(1, opened.session().value());
    } else if (outcome instanceof Outcome.LeaseCreated created) {
      add(2, created.lease().value());
    } else if (outcome instanceof Outcome.Granted granted) {
      add(3, granted.token().value());
    } else if (outcome instanceof Outcome.GrantedAll granted) {
      add(4, granted.tokens().size());
      for (FencingToken token : granted.tokens()) {
        add(token.value());
      }
    } else if (outcome instanceof Outcome.NotGranted) {
      add(5);
    } else if (outcome instanceof Outcome.Waiting) {
      add(6);
    } else if (outcome instanceof Outcome.Answered answered) {
      add(7, answered.answer() ? 1 : 0);
    } else if (outcome instanceof Outcome.Done) {
      add(8);
    } else if (outcome instanceof Outcome.Executed executed) {
      byte[] result = executed.result().bytes();
      value = mix(mix(value, 9), result, result.length);
    } else if (outcome instanceof Outcome.Batch batch) {
      add(10, batch.outcomes().size());
      batch.outcomes().forEach(this::add);
    } else if (outcome instanceof Outcome.Refused refused) {
      add(11, refused.code().number());
    } else if (outcome instanceof Outcome.SqlFailed failed) {
      add(12, failed.vendorCode());
      value = mix(value, failed.sqlState());
    } else {
      throw new IllegalStateException("no outcome of a command: " + outcome);
    }
  }

  void add(List<Notice> notices) {
    for (Notice notice : notices) {
      add(notice);
    }
  }

  private void add(Notice notice) {
    if (notice instanceof Notice.Completed completed) {
      add(21, completed.session().value());
      add(completed.sequence());
      add(completed.outcome());
    } else if (notice instanceof Notice.WaitStarted wait) {
      add(22, wait.session().value());
      add(wait.sequence());
      add(wait.waitMillis());
    } else if (notice instanceof Notice.LeaseStarted started) {
      SessionId session = started.renewedWith();
      add(23, started.lease().value());
      add(started.ttlMillis());
      value = mix(value, started.kind().name());
      add(session == null ? 0 : session.value());
    } else if (notice instanceof Notice.LeaseEnded ended) {
      add(24, ended.lease().value());
    } else if (notice instanceof Notice.SessionStarted started) {
      add(25, started.session().value());
      add(started.ttlMillis());
    } else if (notice instanceof Notice.TransactionUsed used) {
      add(26, used.session().value());
      add(used.transaction());
    } else if (notice instanceof Notice.TransactionEnded ended) {
      add(27, ended.session().value());
      add(ended.transaction());
    } else if (notice instanceof Notice.SessionEnded ended) {
      add(28, ended.session().value());
    } else if (notice instanceof Notice.LockTaken taken) {
      value = mix(mix(value, 29), taken.lock().value());
      add(taken.lease().value());
      add(taken.token().value(), taken.holders());
    } else if (notice instanceof Notice.TransactionsLimited limited) {
      add(30, limited.limits().ageMillis());
      add(limited.limits().idleMillis());
    } else if (notice instanceof Notice.ClusterChanged) {
      add(31);
    } else if (notice instanceof Notice.UsersChanged) {
      add(32);
    } else if (notice instanceof Notice.FeatureLevelRaised raised) {
      add(33, raised.level());
    } else if (notice instanceof Notice.ReplicaReported reported) {
      value = mix(mix(value, 34), reported.nodeId());
      add(reported.checkIndex());
    } else {
      throw new IllegalStateException("unknown notice " + notice);
    }
  }

  private void add(long kind, long change) {
    add(kind);
    add(change);
  }
}
