package dev.tollgate.core;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.AuditEvent;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Computing;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.LogPosition;
import dev.tollgate.core.command.Notice;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.SessionId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The replicated state machine: a command at a log position gives an outcome and notices, the same
 * on every replica. It dispatches: the state is in {@link ReplicatedState}, and operations of
 * sessions go through {@link Requests}.
 *
 * <p>Not thread-safe: only the apply thread applies commands, in log order. After an exception the
 * state cannot be trusted; the replica must stop.
 */
public final class StateMachine {
  /**
   * The result of one command.
   *
   * @param notices notices to deliver to others, in order
   * @param events what auditors want to know, in order; empty unless {@link #recordEvents}
   */
  public record Applied(Outcome outcome, List<Notice> notices, List<AuditEvent> events) {
    public Applied {
      requireNonNull(outcome, "outcome");
      notices = List.copyOf(notices);
      events = List.copyOf(events);
    }
  }

  private final ReplicatedState state;
  private final CurrentCommand current;
  private final SqlStore store;
  private final Locking locking;
  private final LockConfiguration configuration;
  private final Transactions transactions;
  private final Requests requests;
  private final Rights rights;
  private final Accounts accounts;
  private final ClusterState view;
  private final CommandHandler commands = new CommandHandler();
  private final StateRestore restore;
  private final EffectDigest digest;

  public StateMachine(SqlStore store) {
    this(store, Capacity.STANDARD);
  }

  public StateMachine(SqlStore store, Capacity capacity) {
    this.store = requireNonNull(store, "store");
    this.state = ReplicatedState.empty(capacity);
    this.current = state.current();
    this.digest = state.digest();
    this.rights = new Rights(state, store);
    this.locking = new Locking(state, rights);
    this.configuration = new LockConfiguration(state, capacity);
    this.transactions = new Transactions(state, store, rights, this::writeOf);
    this.requests = new Requests(state, locking, transactions, this::operationsOf);
    this.accounts = new Accounts(state, rights, store, new EndingsOfUsers());
    this.view = new ClusterState(state, rights);
    this.restore = new StateRestore(state);
  }

  private SessionOperations operationsOf(Session session) {
    return new SessionOperations(
        session, locking, configuration, transactions, store, rights, accounts, state.audit());
  }

  private SqlWrite writeOf(
      Session session, @Nullable Transaction transaction, boolean ownLeaseTrusted) {
    // includes the operations, because SQL may call the lock functions
    return new SqlWrite(
        state, session, transaction, ownLeaseTrusted, rights, operationsOf(session));
  }

  /** From now on every result has what auditors want to know. The state does not depend on it. */
  public void recordEvents() {
    state.audit().turnOn();
  }

  /** From now on counts what happens to locks there. The state does not depend on it. */
  public void countIn(LockTallies tallies) {
    state.audit().countIn(tallies);
  }

  /**
   * Applies one command.
   *
   * @param at the command's position; a time stamp before that of the last command is replaced by
   *     the last command's
   */
  public Applied apply(LogPosition at, Command command) {
    current.begin(at);
    state.audit().begin(current.nowMicros());
    Outcome outcome = command.handledBy(commands);
    transactions.settleGranted();
    while (accounts.endForbiddenWaits()) {
      // statements that have their turn now may be definitions that take rights away
      transactions.settleGranted();
    }
    return applied(outcome);
  }

  private Applied applied(Outcome outcome) {
    digest.add(current.position());
    digest.add(outcome);
    digest.add(current.notices());
    digest.addChanges(state.locks().takeChanges(), store.takeChanges());
    digest.addIds(
        state.locks().lastToken(),
        state.leases().lastId(),
        state.sessions().lastId(),
        state.transactions().lastId());
    digest.end();
    return new Applied(outcome, current.notices(), state.audit().events());
  }

  /**
   * Returns the digest of what all commands so far have done: equal on replicas that have applied
   * the same log, whether they began with a snapshot or not.
   */
  public long digest() {
    return digest.value();
  }

  /**
   * Refuses a command of any kind without carrying it out, and remembers that: replicas that skip
   * different commands differ.
   */
  public Applied skip(LogPosition at, Command command) {
    current.begin(at);
    state.audit().begin(current.nowMicros());
    state.agreement().skip(new StateRecord.SkippedCommand(at.logIndex(), at.ordinal()));
    Outcome.Refused refused =
        new Outcome.Refused(
            RefusalCode.SKIPPED,
            "all nodes have skipped this command, number "
                + at.ordinal()
                + " of log entry "
                + at.logIndex()
                + ", because nodes stopped at it: it has changed nothing");
    if (command instanceof Command.Perform perform) {
      requests.refuse(perform, refused);
    }
    return applied(refused);
  }

  /** Returns true if the whole state can be copied: no transaction is open. */
  public boolean isCopyable() {
    return state.transactions().all().isEmpty();
  }

  /**
   * Copies the whole state between two commands.
   *
   * @throws IllegalStateException unless {@link #isCopyable}
   */
  public CoreCopy copy() {
    if (!isCopyable()) {
      throw new IllegalStateException("transactions are open");
    }
    return copyWithoutTransactions();
  }

  /**
   * Copies the state between two commands without the open transactions and the statements that
   * wait for them: enough to compare replicas, not to restore one.
   */
  public CoreCopy copyWithoutTransactions() {
    return CoreCopy.of(state);
  }

  /**
   * Restores one record of a {@link #copy} into a machine that has applied nothing. The records
   * must come in the order of the copy. The database must be as it was when the copy was made.
   */
  public void restore(StateRecord piece) {
    piece.handledBy(restore);
  }

  /** The state between two commands. */
  public ClusterState state() {
    return view;
  }

  /** The position of the last command; index 0 before the first. */
  public LogPosition position() {
    return current.position();
  }

  /**
   * Checks all invariants between two commands; takes time in proportion to the state.
   *
   * @throws IllegalStateException naming what is broken
   */
  public void checkInvariants() {
    state.checkInvariants();
  }

  private final class EndingsOfUsers implements Accounts.Endings {
    @Override
    public void endSession(Session session) {
      requests.endSession(session);
    }

    @Override
    public void endLease(Lease lease) {
      locking.endLease(lease);
    }

    @Override
    public void endWait(Session session, Outcome end) {
      requests.endWait(session, end);
    }

    @Override
    public void together(Runnable endings) {
      state.grants().endTogether(endings, current.nowMicros());
    }
  }

  private final class CommandHandler implements Command.Handler<Outcome> {
    @Override
    public Outcome open(Command.OpenSession command) {
      Outcome.Refused unknown = accounts.unknown(command);
      if (unknown != null) {
        return unknown;
      }
      Outcome.Refused full = state.sessions().full(command.user());
      if (full != null) {
        return full;
      }
      Session session = state.sessions().open(command, current.nowMicros());
      current.tell(new Notice.SessionStarted(session.id(), session.ttlMillis()));
      return new Outcome.SessionOpened(session.id());
    }

    @Override
    public Outcome close(Command.CloseSession command) {
      Session session = state.sessions().find(command.session());
      if (session == null) {
        return new Outcome.Answered(false);
      }
      requests.endSession(session);
      return new Outcome.Answered(true);
    }

    @Override
    public Outcome perform(Command.Perform command) {
      return requests.perform(command);
    }

    @Override
    public Outcome endWait(Command.EndWait command) {
      return new Outcome.Answered(requests.endWait(command));
    }

    @Override
    public Outcome expire(Command.Expire command) {
      for (SessionId id : command.sessions()) {
        Session session = state.sessions().find(id);
        if (session != null) {
          state.audit().tallies().sessionExpired();
          recordLosses(session);
          requests.endSession(session);
        }
      }
      for (LeaseId id : command.leases()) {
        Lease lease = state.leases().find(id);
        if (lease != null) {
          state.audit().tallies().leaseExpired();
          state.audit().losing(lease, AuditEvent.LossReason.LEASE_EXPIRED, null);
          locking.endLease(lease);
        }
      }
      return new Outcome.Done();
    }

    private void recordLosses(Session session) {
      Transaction transaction = session.transaction();
      if (transaction != null) {
        state.audit().losing(transaction.lease(), AuditEvent.LossReason.SESSION_EXPIRED, null);
      }
      state.audit().losing(session.ownLease(), AuditEvent.LossReason.SESSION_EXPIRED, null);
    }

    @Override
    public Outcome recordSilence(Command.RecordSilence command) {
      for (Command.SilentLease silence : command.leases()) {
        Lease lease = state.leases().find(silence.lease());
        if (lease != null) {
          lease.silent(silence);
          digest.add(lease.remainingMillis());
        }
      }
      return new Outcome.Done();
    }

    @Override
    public Outcome recordRenewal(Command.RecordRenewal command) {
      Lease lease = state.leases().find(command.lease());
      if (lease != null) {
        lease.renewed(command);
        digest.add(lease.recordedRenewals());
      }
      return new Outcome.Answered(lease != null);
    }

    @Override
    public Outcome createFirstUser(Command.CreateFirstUser command) {
      return new Outcome.Answered(accounts.createFirst(command.account()));
    }

    @Override
    public Outcome releaseOwnLease(Command.ReleaseOwnLease command) {
      Session session = state.sessions().find(command.session());
      if (session == null) {
        return Requests.sessionGone(command.session());
      }
      boolean ended = locking.endOwnLease(session);
      session.forgetLoss();
      return new Outcome.Answered(ended);
    }

    @Override
    public Outcome abort(Command.AbortTransaction command) {
      return new Outcome.Answered(
          transactions.abort(command.session(), command.transaction(), command.reason()));
    }

    @Override
    public Outcome limit(Command.LimitTransactions command) {
      state.transactions().setLimits(command.limits());
      current.tell(new Notice.TransactionsLimited(command.limits()));
      return new Outcome.Done();
    }

    @Override
    public Outcome announce(Command.AnnounceNode command) {
      NodeTable nodes = state.nodes();
      NodeTable.Announced announced =
          nodes.announce(command.nodeId(), command.clientAddress(), command.incarnation());
      if (announced == NodeTable.Announced.MOVED) {
        current.tell(new Notice.ClusterChanged());
      }
      return new Outcome.Answered(announced != NodeTable.Announced.REFUSED);
    }

    @Override
    public Outcome forget(Command.ForgetNode command) {
      boolean known = state.nodes().forget(command.nodeId());
      if (known) {
        current.tell(new Notice.ClusterChanged());
      }
      return new Outcome.Answered(known);
    }

    @Override
    public Outcome name(Command.NameCluster command) {
      return new Outcome.Answered(state.nodes().name(command.clusterId(), command.key()));
    }

    @Override
    public Outcome verify(Command.VerifyReplicas command) {
      return new Outcome.Answered(
          state.agreement().beginCheck(current.position().logIndex(), command.nodes()));
    }

    @Override
    public Outcome report(Command.ReportChecksum command) {
      boolean counts = state.agreement().report(command);
      if (counts) {
        current.tell(new Notice.ReplicaReported(command.nodeId(), command.checkIndex()));
      }
      return new Outcome.Answered(counts);
    }

    @Override
    public Outcome seed(Command.SeedRandom command) {
      state.agreement().setRandomSeed(command.seed());
      return new Outcome.Done();
    }

    @Override
    public Outcome adopt(Command.AdoptEnvironment command) {
      state.agreement().setComputing(Computing.in(command.environment()));
      return new Outcome.Done();
    }

    @Override
    public Outcome raise(Command.RaiseFeatureLevel command) {
      boolean raised = state.agreement().raiseFeatureLevel(command.level());
      if (raised) {
        current.tell(new Notice.FeatureLevelRaised(command.level()));
      }
      return new Outcome.Answered(raised);
    }

    @Override
    public Outcome reportFailure(Command.ReportFailure command) {
      return new Outcome.Done();
    }

    @Override
    public Outcome skip(Command.SkipCommand command) {
      return new Outcome.Answered(
          state.agreement().hasSkipped(command.logIndex(), command.ordinal()));
    }

    @Override
    public Outcome resetLogTime(Command.ResetLogTime command) {
      return new Outcome.Answered(current.resetTime());
    }

    @Override
    public Outcome pause(Command.PauseStatements command) {
      state.agreement().setComputing(Computing.PAUSED);
      return new Outcome.Done();
    }
  }
}
