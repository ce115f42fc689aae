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
  // odd numbers without a pattern: what changes in one place can hardly cancel out what changes in
  // another
  private static final long INDEX = 0xD6E8_FEB8_6659_FD93L;
  private static final long ORDINAL = 0xA076_1D64_78BD_642FL;
  private static final long TIME = 0xE703_7ED1_A0B4_28DBL;
  private static final long LOCKS = 0x8EBC_6AF0_9C88_C6E3L;
  private static final long ROWS = 0x1D8E_4E27_C47D_124FL;
  private static final long TOKEN = 0xEB44_ACCA_B455_D165L;
  private static final long LEASE = 0x9FB2_1C65_1E98_DF25L;
  private static final long SESSION = 0xC2B2_AE3D_27D4_EB4FL;
  private static final long TRANSACTION = 0x1656_67B1_9E37_79F9L;
  private static final long FACTOR = 0x9E37_79B9_7F4A_7C15L;
  private static final long KIND = 0x2745_937F_8D2C_4B87L;

  private long value;

  /** Of the command that is being applied. */
  private long sum;

  long value() {
    return value;
  }

  void restore(long digest) {
    value = digest;
  }

  /** Adds a number that says what a command changed. Takes one multiplication; the end mixes. */
  void add(long change) {
    sum = sum * FACTOR + change;
  }

  void add(LogPosition at) {
    sum += at.logIndex() * INDEX + at.ordinal() * ORDINAL + at.timeMicros() * TIME;
  }

  /**
   * Adds the digests of what a command has changed; 0 where it has changed nothing. A lease needs
   * none: notices say that it has begun and ended.
   */
  void addChanges(long locks, long rows) {
    sum += locks * LOCKS + rows * ROWS;
  }

  /** Adds the newest ids after a command. */
  void addIds(long token, long lease, long session, long transaction) {
    sum += token * TOKEN + lease * LEASE + session * SESSION + transaction * TRANSACTION;
  }

  /** Ends a command. */
  void end() {
    value = mix(value, sum);
    sum = 0;
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
      add(9, mix(0, result, result.length));
    } else if (outcome instanceof Outcome.Batch batch) {
      add(10, batch.outcomes().size());
      batch.outcomes().forEach(this::add);
    } else if (outcome instanceof Outcome.Refused refused) {
      add(11, refused.code().number());
    } else if (outcome instanceof Outcome.SqlFailed failed) {
      add(12, failed.vendorCode());
      add(mix(0, failed.sqlState()));
    } else {
      throw new IllegalStateException("no outcome of a command: " + outcome);
    }
  }

  void add(List<Notice> notices) {
    if (notices.isEmpty()) {
      return;
    }
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
      add(mix(0, started.kind().name()));
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
      add(29, mix(0, taken.lock().value()));
      add(taken.lease().value());
      add(taken.token().value(), taken.holders());
    } else if (notice instanceof Notice.HoldEnded) {
      // the table of locks has the end of each hold in its digest
      return;
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
      add(34, mix(0, reported.nodeId()));
      add(reported.checkIndex());
    } else {
      throw new IllegalStateException("unknown notice " + notice);
    }
  }

  private void add(long kind, long change) {
    add(kind * KIND + change);
  }
}
