package dev.tollgate.core;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The replicated state machine: a command at a log position gives an outcome and notices, and the
 * same ones on every replica.
 *
 * <p>Not thread-safe: one thread applies, in log order. An exception means that the state is no
 * longer to be trusted; the replica must stop.
 */
public final class StateMachine {
  /**
   * What became of one command.
   *
   * @param notices what others have to learn of it, in order
   */
  public record Applied(Outcome outcome, List<Notice> notices) {
    public Applied {
      requireNonNull(outcome, "outcome");
      notices = List.copyOf(notices);
    }
  }

  private final SessionTable sessions;
  private final LeaseTable leases;
  private final LockTable locks;
  private final FenceTable fences = new FenceTable();

  private final NodeTable nodes = new NodeTable();

  private final SqlStore store;
  private final Transactions transactions;
  private final ClusterState state;
  private final CommandHandler commands = new CommandHandler();
  private final RestoreHandler restoring = new RestoreHandler();

  private LogPosition position = new LogPosition(0, 0, 0);
  private final List<Notice> notices = new ArrayList<>();
  private int attempts;
  private RandomSeed randomSeed = RandomSeed.NONE;
  private Computing computing = Computing.ANYWHERE;
  private @Nullable ReplicaCheck check;
  private final List<StateRecord.SkippedCommand> skipped = new ArrayList<>();

  public StateMachine(SqlStore store) {
    this(store, Capacity.STANDARD);
  }

  public StateMachine(SqlStore store, Capacity capacity) {
    this.store = requireNonNull(store, "store");
    this.sessions = new SessionTable(capacity);
    this.leases = new LeaseTable(capacity);
    this.locks = new LockTable(capacity, this::waitEnded);
    this.transactions =
        new Transactions(
            capacity, store, sessions, this::sqlContext, notices::add, () -> computing.changes());
    this.state =
        new ClusterState(
            sessions, leases, locks, fences, transactions, nodes, () -> check, () -> computing);
  }

  /**
   * Applies one command.
   *
   * @param at its position; the time stamp may lie before that of the last command, and is then
   *     taken for that one
   */
  public Applied apply(LogPosition at, Command command) {
    advance(at);
    Outcome outcome = command.handledBy(commands);
    return new Applied(outcome, notices);
  }

  /**
   * Refuses one command without carrying it out, whatever it is, and remembers that: replicas that
   * skip different commands differ.
   */
  public Applied skip(LogPosition at, Command command) {
    advance(at);
    skipped.add(new StateRecord.SkippedCommand(at.logIndex(), at.ordinal()));
    Outcome refused =
        new Outcome.Refused(
            RefusalCode.SKIPPED,
            "an operator has had all nodes skip this command, number "
                + at.ordinal()
                + " of log entry "
                + at.logIndex()
                + ", because nodes stopped at it: it has changed nothing");
    if (command instanceof Command.Perform perform) {
      Session session = sessions.find(perform.session());
      // one that comes again, under the same number, gets the same answer
      if (session != null
          && perform.sequence() > session.lastSequence()
          && !(session.lastOutcome() instanceof Outcome.Waiting)) {
        session.begin(perform.sequence(), perform.content());
        session.finish(refused);
      }
    }
    return new Applied(refused, notices);
  }

  private void advance(LogPosition at) {
    boolean later =
        at.logIndex() > position.logIndex()
            || (at.logIndex() == position.logIndex() && at.ordinal() > position.ordinal())
            || position.logIndex() == 0;
    if (!later) {
      throw new IllegalStateException("applied " + at + " after " + position);
    }
    long timeMicros = Math.max(position.timeMicros(), at.timeMicros());
    position = new LogPosition(at.logIndex(), at.ordinal(), timeMicros);
    notices.clear();
    attempts = 0;
  }

  /** True if the state can be copied whole: no transaction is open. */
  public boolean isCopyable() {
    return transactions.open().isEmpty();
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
   * Copies the state between two commands but for the open transactions, and the statements that
   * wait for them: enough to compare replicas, not to restore one.
   */
  public CoreCopy copyWithoutTransactions() {
    List<StateRecord> first = new ArrayList<>();
    first.add(
        new StateRecord.Counters(
            position,
            sessions.lastId(),
            leases.lastId(),
            locks.lastToken(),
            fences.lastId(),
            transactions.lastId()));
    nodes.addresses().forEach((id, address) -> first.add(new StateRecord.NodeAddress(id, address)));
    leases.all().forEach(lease -> first.add(lease.state()));
    for (Lease lease : leases.all()) {
      if (lease.isSilenceRecorded()) {
        first.add(lease.silence());
      }
    }
    sessions.all().forEach(session -> first.add(session.state()));
    List<StateRecord> last = new ArrayList<>();
    fences.all().forEach(fence -> last.add(fence.state()));
    if (check != null) {
      last.add(check.state());
    }
    last.add(new StateRecord.Randomness(randomSeed));
    if (!computing.equals(Computing.ANYWHERE)) {
      last.add(new StateRecord.ComputingState(computing));
    }
    if (!nodes.identity().equals(ClusterIdentity.NONE)) {
      last.add(new StateRecord.Identity(nodes.identity()));
    }
    last.addAll(skipped);
    return new CoreCopy(first, locks.copy(), last);
  }

  /**
   * Puts back what a {@link #copy} has, record by record in the same order, into a machine that has
   * applied nothing. The database has to be as it was then.
   */
  public void restore(StateRecord piece) {
    piece.handledBy(restoring);
  }

  /** The state between two commands. */
  public ClusterState state() {
    return state;
  }

  /** The position of the last command; index 0 before the first. */
  public LogPosition position() {
    return position;
  }

  /**
   * Checks all that must hold between two commands; costs time in proportion to the state.
   *
   * @throws IllegalStateException naming what is broken
   */
  public void checkInvariants() {
    locks.checkInvariants();
    leases.checkInvariants(locks);
    sessions.checkInvariants(leases, locks);
    transactions.checkInvariants();
  }

  private SqlWrite sqlContext(
      Session session, @Nullable Transaction transaction, boolean ownLeaseTrusted) {
    return new SqlWrite(
        position,
        randomSeed,
        attempts++,
        session,
        transaction,
        ownLeaseTrusted,
        locks,
        fences,
        new OperationHandler(session));
  }

  private void waitEnded(RequestId request, Outcome outcome) {
    sessions.existing(request.session()).finish(outcome);
    notices.add(new Notice.Completed(request.session(), request.sequence(), outcome));
  }

  private void endLease(Lease lease) {
    SessionId creator = lease.creator();
    Session owner = lease.isOwn() && creator != null ? sessions.find(creator) : null;
    if (owner != null) {
      owner.ownLeaseEnded(List.copyOf(lease.held()));
    }
    locks.endOf(lease, position.timeMicros());
    leases.remove(lease);
    notices.add(new Notice.LeaseEnded(lease.id()));
  }

  private void endSession(Session session) {
    endWaitOf(session, new Outcome.Refused(RefusalCode.SESSION_GONE, "the session ended"));
    transactions.sessionEnds(session, position.timeMicros());
    Lease own = session.ownLease();
    if (own != null) {
      endLease(own);
    }
    sessions.remove(session);
    notices.add(new Notice.SessionEnded(session.id()));
  }

  private boolean endWaitOf(Session session, Outcome outcome) {
    if (transactions.endWait(session, outcome, position.timeMicros())) {
      return true;
    }
    LockName awaited = session.awaited();
    RequestId request = new RequestId(session.id(), session.lastSequence());
    return awaited != null && locks.endWait(awaited, request, outcome, position.timeMicros());
  }

  private static Outcome.Refused sessionGone(SessionId id) {
    return new Outcome.Refused(
        RefusalCode.SESSION_GONE, "session " + id + " has expired or was closed");
  }

  private static Outcome.Refused reused(Command.Perform command) {
    return new Outcome.Refused(
        RefusalCode.SEQUENCE_REUSED,
        "operation "
            + command.sequence()
            + " of session "
            + command.session()
            + " was another request: a client gives each request a number of its own, and changes"
            + " nothing in one that it sends again");
  }

  private static Outcome.Refused cancelled() {
    return new Outcome.Refused(RefusalCode.WAIT_CANCELLED, "the wait was cancelled");
  }

  /** As H2 says it, because tools know this error. */
  private static Outcome rowsNotFree() {
    return new Outcome.SqlFailed(
        "HYT00",
        50200,
        "Timeout trying to lock: other transactions did not end in time, SET LOCK_TIMEOUT allows"
            + " more");
  }

  /** Puts records back where they came from, and gives them back. */
  private final class RestoreHandler implements StateRecord.Handler<StateRecord> {
    @Override
    public StateRecord counters(StateRecord.Counters state) {
      if (position.logIndex() != 0) {
        throw new IllegalStateException("the state stands at " + position + " already");
      }
      position = state.position();
      sessions.restoreLastId(state.lastSession());
      leases.restoreLastId(state.lastLease());
      locks.restoreLastToken(state.lastToken());
      fences.restoreLastId(state.lastFence());
      transactions.restoreLastId(state.lastTransaction());
      return state;
    }

    @Override
    public StateRecord node(StateRecord.NodeAddress state) {
      nodes.restore(state);
      return state;
    }

    @Override
    public StateRecord identity(StateRecord.Identity state) {
      nodes.restore(state.identity());
      return state;
    }

    @Override
    public StateRecord lease(StateRecord.LeaseState state) {
      leases.restore(state);
      return state;
    }

    @Override
    public StateRecord silence(StateRecord.LeaseSilence state) {
      leases.restore(state);
      return state;
    }

    @Override
    public StateRecord session(StateRecord.SessionState state) {
      sessions.restore(state, leases);
      return state;
    }

    @Override
    public StateRecord lock(StateRecord.LockState state) {
      locks.restore(state, leases);
      return state;
    }

    @Override
    public StateRecord randomness(StateRecord.Randomness state) {
      randomSeed = state.seed();
      return state;
    }

    @Override
    public StateRecord computing(StateRecord.ComputingState state) {
      computing = state.computing();
      return state;
    }

    @Override
    public StateRecord fence(StateRecord.FenceState state) {
      fences.restore(state);
      return state;
    }

    @Override
    public StateRecord skipped(StateRecord.SkippedCommand state) {
      skipped.add(state);
      return state;
    }

    @Override
    public StateRecord check(StateRecord.CheckState state) {
      check = new ReplicaCheck(state);
      return state;
    }
  }

  private final class CommandHandler implements Command.Handler<Outcome> {
    @Override
    public Outcome open(Command.OpenSession command) {
      Outcome.Refused full = sessions.full();
      if (full != null) {
        return full;
      }
      Session session = sessions.open(command, position.timeMicros());
      notices.add(new Notice.SessionStarted(session.id(), session.ttlMillis()));
      return new Outcome.SessionOpened(session.id());
    }

    @Override
    public Outcome close(Command.CloseSession command) {
      Session session = sessions.find(command.session());
      if (session == null) {
        return new Outcome.Answered(false);
      }
      endSession(session);
      return new Outcome.Answered(true);
    }

    @Override
    public Outcome perform(Command.Perform command) {
      Session session = sessions.find(command.session());
      if (session == null) {
        return sessionGone(command.session());
      }
      if (command.sequence() < session.lastSequence()) {
        return new Outcome.Refused(
            RefusalCode.SEQUENCE_PASSED,
            "operation " + command.sequence() + " came after operation " + session.lastSequence());
      }
      Outcome known = session.lastOutcome();
      if (command.sequence() == session.lastSequence() && known != null) {
        return session.hasSent(command.content()) ? known : reused(command);
      }
      endWaitOf(session, cancelled());
      session.begin(command.sequence(), command.content());
      Outcome outcome = command.operation().handledBy(new OperationHandler(session));
      if (!(outcome instanceof Outcome.Waiting)) {
        session.finish(outcome);
      } else if (command.operation() instanceof Operation.AcquireLock acquire) {
        session.waitFor(acquire.lock());
        notices.add(new Notice.WaitStarted(session.id(), command.sequence(), acquire.waitMillis()));
      }
      return outcome;
    }

    @Override
    public Outcome endWait(Command.EndWait command) {
      Session session = sessions.find(command.session());
      if (session == null || session.lastSequence() != command.sequence()) {
        return new Outcome.Answered(false);
      }
      Outcome end =
          switch (command.reason()) {
            case TIMED_OUT -> session.isBlocked() ? rowsNotFree() : new Outcome.NotGranted();
            case CANCELLED -> cancelled();
          };
      return new Outcome.Answered(endWaitOf(session, end));
    }

    @Override
    public Outcome expire(Command.Expire command) {
      for (SessionId id : command.sessions()) {
        Session session = sessions.find(id);
        if (session != null) {
          endSession(session);
        }
      }
      for (LeaseId id : command.leases()) {
        Lease lease = leases.find(id);
        if (lease != null) {
          endLease(lease);
        }
      }
      return new Outcome.Done();
    }

    @Override
    public Outcome recordSilence(Command.RecordSilence command) {
      for (Command.SilentLease silence : command.leases()) {
        Lease lease = leases.find(silence.lease());
        if (lease != null) {
          lease.silent(silence);
        }
      }
      return new Outcome.Done();
    }

    @Override
    public Outcome recordRenewal(Command.RecordRenewal command) {
      Lease lease = leases.find(command.lease());
      if (lease != null) {
        lease.renewed(command);
      }
      return new Outcome.Answered(lease != null);
    }

    @Override
    public Outcome releaseOwnLease(Command.ReleaseOwnLease command) {
      Session session = sessions.find(command.session());
      if (session == null) {
        return sessionGone(command.session());
      }
      Lease own = session.ownLease();
      if (own != null) {
        endLease(own);
      }
      session.forgetLoss();
      return new Outcome.Answered(own != null);
    }

    @Override
    public Outcome abort(Command.AbortTransaction command) {
      return new Outcome.Answered(
          transactions.abort(
              command.session(), command.transaction(), command.reason(), position.timeMicros()));
    }

    @Override
    public Outcome announce(Command.AnnounceNode command) {
      NodeTable.Announced announced =
          nodes.announce(command.nodeId(), command.clientAddress(), command.incarnation());
      if (announced == NodeTable.Announced.MOVED) {
        notices.add(new Notice.ClusterChanged());
      }
      return new Outcome.Answered(announced != NodeTable.Announced.REFUSED);
    }

    @Override
    public Outcome name(Command.NameCluster command) {
      return new Outcome.Answered(nodes.name(command.clusterId()));
    }

    @Override
    public Outcome forget(Command.ForgetNode command) {
      boolean known = nodes.forget(command.nodeId());
      if (known) {
        notices.add(new Notice.ClusterChanged());
      }
      return new Outcome.Answered(known);
    }

    @Override
    public Outcome verify(Command.VerifyReplicas command) {
      boolean begins = check == null || check.logIndex() != position.logIndex();
      if (begins) {
        check = new ReplicaCheck(position.logIndex(), command.nodes());
      }
      return new Outcome.Answered(begins);
    }

    @Override
    public Outcome seed(Command.SeedRandom command) {
      randomSeed = command.seed();
      return new Outcome.Done();
    }

    @Override
    public Outcome adopt(Command.AdoptEnvironment command) {
      computing = Computing.in(command.environment());
      return new Outcome.Done();
    }

    @Override
    public Outcome pause(Command.PauseStatements command) {
      computing = Computing.PAUSED;
      return new Outcome.Done();
    }

    @Override
    public Outcome report(Command.ReportChecksum command) {
      ReplicaCheck current = check;
      boolean counts =
          current != null
              && current.logIndex() == command.checkIndex()
              && current.report(command.nodeId(), command.checksum());
      if (counts) {
        notices.add(new Notice.ReplicaReported(command.nodeId(), command.checkIndex()));
      }
      return new Outcome.Answered(counts);
    }
  }

  /** The operations of one session, at the current position. */
  private final class OperationHandler implements Operation.Handler<Outcome> {
    private final Session session;

    OperationHandler(Session session) {
      this.session = session;
    }

    @Override
    public Outcome createLease(Operation.CreateLease operation) {
      Outcome.Refused full = leases.full();
      if (full != null) {
        return full;
      }
      Lease lease =
          leases.create(
              operation.owner(),
              operation.ttlMillis(),
              position.timeMicros(),
              session.id(),
              /* own= */ false);
      notices.add(new Notice.LeaseStarted(lease.id(), lease.ttlMillis(), null));
      return new Outcome.LeaseCreated(lease.id());
    }

    @Override
    public Outcome revokeLease(Operation.RevokeLease operation) {
      Lease lease = leases.find(operation.lease());
      if (lease != null) {
        endLease(lease);
      } else if (!leases.existed(operation.lease())) {
        return leaseGone(operation.lease());
      }
      return new Outcome.Answered(lease != null);
    }

    @Override
    public Outcome acquire(Operation.AcquireLock operation) {
      LeaseId stated = operation.lease();
      Lease lease = stated == null ? session.ownLease() : leases.find(stated);
      if (lease == null) {
        if (stated != null) {
          return leaseGone(stated);
        }
        Outcome.Refused lost = session.takeLoss();
        Outcome.Refused refused = lost == null ? leases.full() : lost;
        if (refused != null) {
          return refused;
        }
        lease = createOwnLease();
      }
      return locks.acquire(
          operation.lock(),
          lease,
          operation.mode(),
          operation.waitMillis(),
          new RequestId(session.id(), session.lastSequence()),
          position.timeMicros());
    }

    @Override
    public Outcome release(Operation.ReleaseLock operation) {
      LeaseId stated = operation.lease();
      Lease lease = stated == null ? session.ownLease() : leases.find(stated);
      if (lease == null) {
        Outcome.Refused lost = stated == null ? session.takeLoss() : leaseGone(stated);
        return lost == null ? new Outcome.Answered(false) : lost;
      }
      return new Outcome.Answered(locks.release(operation.lock(), lease, position.timeMicros()));
    }

    @Override
    public Outcome forceRelease(Operation.ForceReleaseLock operation) {
      LockName name = operation.lock();
      Lock lock = locks.find(name);
      if (lock != null) {
        Hold first = lock.holds().get(0);
        notices.add(
            new Notice.LockTaken(name, first.lease().id(), first.token(), lock.holds().size()));
      }
      return new Outcome.Answered(locks.forceRelease(name, position.timeMicros()));
    }

    @Override
    public Outcome presentToken(Operation.PresentToken operation) {
      Long token = operation.token();
      if (token == null) {
        session.stopPresenting(operation.lock());
      } else if (!session.presented().containsKey(operation.lock())
          && session.presented().size() >= Limits.TOKENS_PER_SESSION) {
        return new Outcome.Refused(
            RefusalCode.LIMIT_REACHED,
            "the session presents "
                + Limits.TOKENS_PER_SESSION
                + " fencing tokens already: SET FENCING TOKEN NULL FOR LOCK of those that it no"
                + " longer needs");
      } else {
        session.present(operation.lock(), token);
      }
      return new Outcome.Done();
    }

    @Override
    public Outcome setSchema(Operation.SetSchema operation) {
      if (!store.hasSchema(operation.schema())) {
        return new Outcome.SqlFailed(
            "90079", 90079, "Schema \"" + operation.schema() + "\" not found");
      }
      session.setSchema(operation.schema());
      return new Outcome.Done();
    }

    @Override
    public Outcome execute(Operation.ExecuteSql operation) {
      return transact(operation, operation.mode(), operation.definition());
    }

    @Override
    public Outcome fenceTable(Operation.FenceTable operation) {
      return transact(operation, TransactionMode.AUTOCOMMIT, /* definition= */ true);
    }

    @Override
    public Outcome unfenceTable(Operation.UnfenceTable operation) {
      return transact(operation, TransactionMode.AUTOCOMMIT, /* definition= */ true);
    }

    @Override
    public Outcome begin(Operation.BeginTransaction operation) {
      return transact(operation, operation.mode(), /* definition= */ false);
    }

    @Override
    public Outcome savepoint(Operation.MarkSavepoint operation) {
      return transact(operation, operation.mode(), /* definition= */ false);
    }

    @Override
    public Outcome end(Operation.EndTransaction operation) {
      return transactions.end(session, operation.commit(), position.timeMicros());
    }

    @Override
    public Outcome setLockTimeout(Operation.SetLockTimeout operation) {
      session.setLockTimeoutMillis(operation.millis());
      return new Outcome.Done();
    }

    private Outcome transact(Operation operation, TransactionMode mode, boolean definition) {
      return transactions.run(
          new PendingStatement(session, operation, mode, definition),
          position.timeMicros(),
          session.lockTimeoutMillis());
    }

    private Lease createOwnLease() {
      ClientInfo client = session.client();
      Lease lease =
          leases.create(
              client.application(),
              session.leaseTtlMillis(),
              position.timeMicros(),
              session.id(),
              /* own= */ true);
      session.setOwnLease(lease);
      notices.add(new Notice.LeaseStarted(lease.id(), lease.ttlMillis(), session.id()));
      return lease;
    }

    private Outcome.Refused leaseGone(LeaseId id) {
      return new Outcome.Refused(
          RefusalCode.LEASE_GONE,
          leases.existed(id)
              ? "lease " + id + " has expired or was revoked, and its locks are released"
              : "lease " + id + " was never created");
    }
  }
}
