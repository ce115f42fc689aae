package dev.tollgate.simulation;

import dev.tollgate.core.Lease;
import dev.tollgate.core.StateRecord;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LockDefinition;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.PresentedToken;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TimeZoneName;
import dev.tollgate.core.command.TransactionLimits;
import dev.tollgate.core.command.UserAccount;
import dev.tollgate.core.command.UserName;
import dev.tollgate.log.LogConsumer;
import dev.tollgate.log.entry.Entry;
import dev.tollgate.log.entry.EntryBytes;
import dev.tollgate.log.entry.Proposal;
import dev.tollgate.node.replica.Replica;
import dev.tollgate.snapshot.SnapshotReader;
import dev.tollgate.snapshot.SnapshotWriter;
import dev.tollgate.snapshot.StateCodec;
import dev.tollgate.snapshot.StateCopy;
import dev.tollgate.wire.WireWriter;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** A replica with a bug around it: entries and snapshots are changed on their way in. */
class BrokenConsumer implements LogConsumer {
  private final Replica replica;

  BrokenConsumer(Replica replica) {
    this.replica = replica;
  }

  static LogConsumer around(
      Replica replica, Breakage breakage, LongSupplier wallMicros, RightsOnReceipt receipts) {
    return switch (breakage) {
      case EXPIRY_BY_LOCAL_CLOCK -> new ExpiresByItself(replica, wallMicros);
      case TOKEN_COUNTER_NOT_RESTORED,
          SESSION_TABLE_FORGOTTEN,
          SESSION_FENCE_FORGOTTEN,
          TIME_ZONE_FORGOTTEN,
          RIGHTS_FORGOTTEN,
          FEATURE_LEVEL_FORGOTTEN,
          WORK_LIMITS_FORGOTTEN,
          CLOSED_ACCOUNTS_FORGOTTEN,
          TRANSACTION_LIMITS_FORGOTTEN ->
          new Forgetful(replica, breakage);
      case DEFINITIONS_NOT_FENCED -> new Replaces(replica, new FencesAsClauses());
      case TIMED_OUT_WAITER_STAYS ->
          Replaces.ignoring(
              replica,
              command ->
                  command instanceof Command.EndWait end
                      && end.reason() == Command.WaitEnd.TIMED_OUT);
      case LEADER_APPLIES_WHAT_IT_SENT -> new ReadsWithLoss(replica);
      case RENEWAL_NOT_RECORDED ->
          Replaces.ignoring(replica, command -> command instanceof Command.RecordRenewal);
      case RESET_OF_TIME_IGNORED ->
          Replaces.ignoring(replica, command -> command instanceof Command.ResetLogTime);
      case PERMIT_COUNTED_TWICE ->
          new Replaces(replica, operations(BrokenConsumer::withOnePermitMore));
      case SET_GRANTED_IN_PART -> new Replaces(replica, operations(BrokenConsumer::firstOfSet));
      case TRANSACTION_LOCK_OUTLIVES_ROLLBACK ->
          new Replaces(replica, operations(BrokenConsumer::lockOfTheSession));
      case KEEP_ENDS_EARLY -> new Replaces(replica, operations(BrokenConsumer::halfTheKeep));
      case SERIES_FENCED_BY_ITS_FIRST,
          SERIES_GOES_ON_AFTER_FAILURE,
          SERIES_NOT_COMMITTED,
          MARK_WITHOUT_DEFINITION,
          DEFINITION_WITHOUT_MARK ->
          new Replaces(replica, operations(new BrokenSeries(breakage)));
      case LOCKED_USER_KEEPS_SESSIONS ->
          new Replaces(replica, operations(BrokenConsumer::withoutLocks));
      case EXPIRY_OF_USER_IGNORED ->
          new Replaces(replica, operations(BrokenConsumer::withoutExpiry));
      case RIGHTS_CHECKED_ON_RECEIPT,
          DROPPED_USER_KEEPS_LOCKS,
          REVOKE_SPARES_WAITS,
          GRANT_COUNTS_FOR_ALL ->
          new BrokenRights(replica, breakage, receipts);
      case QUEUE_NOT_FIFO -> new Reverses(replica);
      case LOCAL_TIME_WHILE_APPLYING -> new StampsItself(replica, wallMicros);
      default -> replica;
    };
  }

  private static Operation withoutLocks(Operation operation) {
    return operation instanceof Operation.AlterUser alter
            && alter.change() == Operation.AlterUser.Change.LOCK_ACCOUNT
        ? new Operation.AlterUser(
            alter.user(), Operation.AlterUser.Change.DROP_OLD_PASSWORD, /* verifier= */ null)
        : operation;
  }

  private static Operation withoutExpiry(Operation operation) {
    UserName user = operation instanceof Operation.AlterUser alter ? alter.user() : null;
    return user != null
            && operation instanceof Operation.AlterUser alter
            && alter.change() == Operation.AlterUser.Change.LIMIT_VALIDITY
        ? Operation.AlterUser.validUntil(user, UserAccount.ALWAYS)
        : operation;
  }

  private static UnaryOperator<Command> operations(UnaryOperator<Operation> replacement) {
    return command ->
        command instanceof Command.Perform perform
            ? new Command.Perform(
                perform.session(),
                perform.sequence(),
                replacement.apply(perform.operation()),
                perform.content())
            : command;
  }

  private static Operation withOnePermitMore(Operation operation) {
    return operation instanceof Operation.DefineLock define
        ? new Operation.DefineLock(
            new LockDefinition(define.definition().lock(), define.definition().permits() + 1),
            define.lenient())
        : operation;
  }

  private static Operation firstOfSet(Operation operation) {
    return operation instanceof Operation.AcquireLocks set
        ? new Operation.AcquireLocks(set.locks().subList(0, 1), set.lease(), set.waitMillis())
        : operation;
  }

  private static Operation lockOfTheSession(Operation operation) {
    return operation instanceof Operation.AcquireTransactionLock acquire
        ? new Operation.AcquireLock(acquire.lock(), null, LockMode.EXCLUSIVE, acquire.waitMillis())
        : operation;
  }

  private static Operation halfTheKeep(Operation operation) {
    return operation instanceof Operation.ReleaseLock release
        ? new Operation.ReleaseLock(release.lock(), release.lease(), release.keepMillis() / 2)
        : operation;
  }

  @Override
  public void apply(long logIndex, Entry entry) {
    replica.apply(logIndex, entry);
  }

  @Override
  public @Nullable StateCopy beginCopy(boolean insistent) {
    return replica.beginCopy(insistent);
  }

  @Override
  public void snapshotNeedsGap(boolean needed) {
    replica.snapshotNeedsGap(needed);
  }

  @Override
  public void restore(SnapshotReader snapshot) throws IOException {
    replica.restore(snapshot);
  }

  @Override
  public void startedLeading(long term) {
    replica.startedLeading(term);
  }

  @Override
  public void stoppedLeading() {
    replica.stoppedLeading();
  }

  @Override
  public void failed(Throwable cause) {
    replica.failed(cause);
  }

  /** {@link Breakage#EXPIRY_BY_LOCAL_CLOCK}. */
  private static final class ExpiresByItself extends BrokenConsumer {
    private final Replica replica;
    private final LongSupplier wallMicros;

    ExpiresByItself(Replica replica, LongSupplier wallMicros) {
      super(replica);
      this.replica = replica;
      this.wallMicros = wallMicros;
    }

    @Override
    public void apply(long logIndex, Entry entry) {
      long now = wallMicros.getAsLong();
      List<LeaseId> due = new ArrayList<>();
      replica
          .state()
          .look(
              state -> {
                for (Lease lease : state.leases()) {
                  if (lease.createdMicros() + lease.ttlMillis() * 1_000 < now) {
                    due.add(lease.id());
                  }
                }
                return null;
              });
      if (due.isEmpty()) {
        super.apply(logIndex, entry);
        return;
      }
      List<Command> commands = new ArrayList<>(entry.commands());
      List<Proposal> proposals = new ArrayList<>(entry.proposals());
      Command expire = new Command.Expire(List.of(), due);
      commands.add(expire);
      if (!proposals.isEmpty()) {
        proposals.add(EntryBytes.unasked(expire));
      }
      super.apply(logIndex, EntryBytes.of(entry.stampMicros(), commands, proposals));
    }
  }

  /** What {@link #around} lists: a snapshot loses something. */
  private static final class Forgetful extends BrokenConsumer {
    private final Breakage breakage;

    Forgetful(Replica replica, Breakage breakage) {
      super(replica);
      this.breakage = breakage;
    }

    @Override
    public void restore(SnapshotReader snapshot) throws IOException {
      List<SnapshotReader.Piece> pieces = new ArrayList<>();
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      SnapshotWriter out = new SnapshotWriter(bytes);
      long highest = 0;
      List<StateRecord> core = new ArrayList<>();
      for (SnapshotReader.Piece piece = snapshot.next(); piece != null; piece = snapshot.next()) {
        if (piece.kind() >= StateCodec.FIRST_FREE_KIND) {
          pieces.add(piece);
        } else {
          StateRecord state = StateCodec.read(piece.kind(), piece.body());
          core.add(state);
          if (state instanceof StateRecord.LockState lock) {
            for (StateRecord.HoldState hold : lock.holds()) {
              highest = Math.max(highest, hold.token().value());
            }
          }
        }
      }
      for (StateRecord state : core) {
        StateRecord kept = spoilt(state, highest);
        if (kept != null) {
          WireWriter body = new WireWriter();
          int kind = StateCodec.write(body, kept);
          out.record(kind, body);
        }
      }
      for (SnapshotReader.Piece piece : pieces) {
        byte[] body = piece.body().rest();
        out.record(piece.kind(), body);
      }
      out.finish();
      super.restore(new SnapshotReader(new ByteArrayInputStream(bytes.toByteArray())));
    }

    /** What the snapshot has in place of a record, or null. */
    private @Nullable StateRecord spoilt(StateRecord state, long highest) {
      if (breakage == Breakage.SESSION_FENCE_FORGOTTEN
          && state instanceof StateRecord.SessionFence) {
        return null;
      }
      if (breakage == Breakage.FEATURE_LEVEL_FORGOTTEN
          && state instanceof StateRecord.FeatureLevelState) {
        return null;
      }
      if (breakage == Breakage.RIGHTS_FORGOTTEN && state instanceof StateRecord.RightState) {
        return null;
      }
      if (breakage == Breakage.WORK_LIMITS_FORGOTTEN
          && state instanceof StateRecord.UserState user) {
        return new StateRecord.UserState(user.account().with(Limits.FULL_WORK));
      }
      if (breakage == Breakage.CLOSED_ACCOUNTS_FORGOTTEN
          && state instanceof StateRecord.UserState user) {
        return new StateRecord.UserState(
            user.account().locked(false).validUntil(UserAccount.ALWAYS));
      }
      if (breakage == Breakage.TOKEN_COUNTER_NOT_RESTORED
          && state instanceof StateRecord.Counters counters) {
        return new StateRecord.Counters(
            counters.position(),
            counters.lastSession(),
            counters.lastLease(),
            highest,
            counters.lastFence(),
            counters.lastTransaction());
      }
      if (breakage == Breakage.TRANSACTION_LIMITS_FORGOTTEN
          && state instanceof StateRecord.LimitsState) {
        return new StateRecord.LimitsState(TransactionLimits.STANDARD);
      }
      if (breakage == Breakage.TIME_ZONE_FORGOTTEN
          && state instanceof StateRecord.SessionState session) {
        return inUtc(session);
      }
      if (breakage == Breakage.SESSION_TABLE_FORGOTTEN
          && state instanceof StateRecord.SessionState session
          && session.awaited() == null) {
        return new StateRecord.SessionState(
            session.id(),
            session.opening(),
            session.openedMicros(),
            session.schema(),
            session.timeZone(),
            session.presented(),
            session.ownLease(),
            session.lost(),
            0,
            Command.Perform.UNKNOWN_CONTENT,
            null,
            null,
            session.lockTimeoutMillis(),
            session.lostTransaction());
      }
      return state;
    }
  }

  private static StateRecord.SessionState inUtc(StateRecord.SessionState session) {
    return new StateRecord.SessionState(
        session.id(),
        session.opening(),
        session.openedMicros(),
        session.schema(),
        TimeZoneName.UTC,
        session.presented(),
        session.ownLease(),
        session.lost(),
        session.lastSequence(),
        session.lastContent(),
        session.lastOutcome(),
        session.awaited(),
        session.lockTimeoutMillis(),
        session.lostTransaction());
  }

  /** {@link Breakage#TIMED_OUT_WAITER_STAYS}, {@link Breakage#RENEWAL_NOT_RECORDED}. */
  private static final class Replaces extends BrokenConsumer {
    private final UnaryOperator<Command> replacement;

    Replaces(Replica replica, UnaryOperator<Command> replacement) {
      super(replica);
      this.replacement = replacement;
    }

    static Replaces ignoring(Replica replica, Predicate<Command> ignored) {
      Command nothing = new Command.Expire(List.of(), List.of());
      return new Replaces(replica, command -> ignored.test(command) ? nothing : command);
    }

    @Override
    public void apply(long logIndex, Entry entry) {
      List<Command> commands = new ArrayList<>();
      List<Proposal> proposals = new ArrayList<>();
      for (int i = 0; i < entry.commands().size(); i++) {
        Command replaced = replacement.apply(entry.commands().get(i));
        commands.add(replaced);
        if (!entry.proposals().isEmpty()) {
          proposals.add(EntryBytes.replaced(replaced, entry.proposals().get(i)));
        }
      }
      super.apply(logIndex, EntryBytes.of(entry.stampMicros(), commands, proposals));
    }
  }

  /** {@link Breakage#DEFINITIONS_NOT_FENCED}. */
  private static final class FencesAsClauses implements UnaryOperator<Command> {
    private final Map<SessionId, Operation.StatementFence> fences = new HashMap<>();

    @Override
    public Command apply(Command command) {
      return command instanceof Command.Perform perform
          ? new Command.Perform(
              perform.session(),
              perform.sequence(),
              apply(perform.session(), perform.operation()),
              perform.content())
          : command;
    }

    private Operation apply(SessionId session, Operation operation) {
      if (operation instanceof Operation.FenceSession setting) {
        PresentedToken fence = setting.fence();
        fences.remove(session);
        if (fence != null) {
          fences.put(session, new Operation.StatementFence(fence, false));
        }
        return new Operation.FenceSession(null);
      }
      Operation.StatementFence fence = fences.get(session);
      return fence != null
              && operation instanceof Operation.ExecuteSql change
              && !change.definition()
              && !change.returnsRows()
          ? fenced(change, fence)
          : operation;
    }

    private static Operation fenced(Operation.ExecuteSql change, Operation.StatementFence fence) {
      return new Operation.ExecuteSql(
          change.sql(),
          false,
          change.targets(),
          change.parameterSets().stream()
              .map(set -> new Operation.ParameterSet(set.values(), fence))
              .toList(),
          change.batch(),
          false,
          change.keys(),
          change.maxRows(),
          change.binding(),
          change.ownLeaseTrusted(),
          change.mode());
    }
  }

  /** {@link Breakage#LEADER_APPLIES_WHAT_IT_SENT}. */
  private static final class ReadsWithLoss extends BrokenConsumer {
    ReadsWithLoss(Replica replica) {
      super(replica);
    }

    @Override
    public void apply(long logIndex, Entry entry) {
      boolean sentHere = !entry.proposals().isEmpty();
      List<Command> commands =
          sentHere ? entry.commands() : entry.commands().stream().map(this::read).toList();
      super.apply(logIndex, EntryBytes.of(entry.stampMicros(), commands, entry.proposals()));
    }

    private Command read(Command command) {
      return command instanceof Command.Perform perform
              && perform.operation() instanceof Operation.CreateLease lease
          ? new Command.Perform(
              perform.session(),
              perform.sequence(),
              new Operation.CreateLease(
                  lease.ttlMillis(), lease.owner().replaceAll("[^\\x20-\\x7e]", "?")),
              perform.content())
          : command;
    }
  }

  /** {@link Breakage#QUEUE_NOT_FIFO}. */
  private static final class Reverses extends BrokenConsumer {
    Reverses(Replica replica) {
      super(replica);
    }

    @Override
    public void apply(long logIndex, Entry entry) {
      List<Command> commands = new ArrayList<>(entry.commands());
      List<Proposal> proposals = new ArrayList<>(entry.proposals());
      Collections.reverse(commands);
      Collections.reverse(proposals);
      super.apply(logIndex, EntryBytes.of(entry.stampMicros(), commands, proposals));
    }
  }

  /** {@link Breakage#LOCAL_TIME_WHILE_APPLYING}. */
  private static final class StampsItself extends BrokenConsumer {
    private final LongSupplier wallMicros;

    StampsItself(Replica replica, LongSupplier wallMicros) {
      super(replica);
      this.wallMicros = wallMicros;
    }

    @Override
    public void apply(long logIndex, Entry entry) {
      super.apply(
          logIndex, EntryBytes.of(wallMicros.getAsLong(), entry.commands(), entry.proposals()));
    }
  }
}
