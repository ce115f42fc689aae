package dev.tollgate.simulation;

import dev.tollgate.core.ClusterState;
import dev.tollgate.core.Lease;
import dev.tollgate.core.Session;
import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.RequestId;
import dev.tollgate.core.command.Right;
import dev.tollgate.core.command.UserName;
import dev.tollgate.log.entry.Entry;
import dev.tollgate.log.entry.EntryBytes;
import dev.tollgate.log.entry.Proposal;
import dev.tollgate.node.replica.Replica;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A replica with a bug around users and rights. Every replica has it alike: each decides by the
 * state before an entry. What an administrator would have to do for it, a session does that no
 * client uses.
 */
final class BrokenRights extends BrokenConsumer {
  private static final String SPARE = "spare";

  private final Replica replica;
  private final Breakage breakage;
  private final RightsOnReceipt receipts;

  BrokenRights(Replica replica, Breakage breakage, RightsOnReceipt receipts) {
    super(replica);
    this.replica = replica;
    this.breakage = breakage;
    this.receipts = receipts;
  }

  static Command openSpareSession() {
    return new Command.OpenSession(
        new ClientInfo(SPARE, SPARE, SPARE),
        1,
        Limits.SESSION_TTL_MAX_MILLIS,
        Limits.LEASE_TTL_MAX_MILLIS,
        new UserName(Op.ROOT));
  }

  @Override
  public void apply(long logIndex, Entry entry) {
    Changed changed = replica.state().look(state -> new Changed(state, entry));
    super.apply(logIndex, EntryBytes.of(entry.stampMicros(), changed.commands, changed.proposals));
  }

  /** An entry as the broken replica applies it. */
  private final class Changed {
    private final ClusterState state;
    private final List<Command> commands = new ArrayList<>();
    private final List<Proposal> proposals = new ArrayList<>();
    private final boolean proposedHere;
    private final @Nullable Session spare;
    private long sequence;

    Changed(ClusterState state, Entry entry) {
      this.state = state;
      proposedHere = !entry.proposals().isEmpty();
      spare =
          state.sessions().stream()
              .filter(session -> session.client().application().equals(SPARE))
              .findFirst()
              .orElse(null);
      sequence = spare == null ? 0 : spare.lastSequence();
      for (int i = 0; i < entry.commands().size(); i++) {
        Command command = entry.commands().get(i);
        Session session =
            command instanceof Command.Perform perform ? state.session(perform.session()) : null;
        Proposal proposal = proposedHere ? entry.proposals().get(i) : null;
        if (command instanceof Command.Perform perform && session != null) {
          change(perform, session, proposal);
        } else {
          add(command, proposal);
        }
      }
    }

    private void add(Command command, @Nullable Proposal proposal) {
      commands.add(command);
      if (proposedHere) {
        proposals.add(
            proposal == null
                ? EntryBytes.unasked(command)
                : EntryBytes.replaced(command, proposal));
      }
    }

    private void addOfSpare(Operation operation) {
      if (spare != null) {
        add(new Command.Perform(spare.id(), ++sequence, operation), null);
      }
    }

    private void change(Command.Perform perform, Session session, @Nullable Proposal proposal) {
      Operation operation = perform.operation();
      Right lent = null;
      if (operation instanceof Operation.AcquireLock acquire
          && receipts.hadRight(new RequestId(perform.session(), perform.sequence()))
          && breakage == Breakage.RIGHTS_CHECKED_ON_RECEIPT
          && !state.isAdministrator(session.user())) {
        // a pattern of its own, so that it takes back no right that somebody has granted
        lent =
            new Right(Right.Kind.LOCK, null, acquire.lock().value() + "%", session.user().value());
        addOfSpare(new Operation.ChangeRight(true, lent));
      } else if (operation instanceof Operation.DropUser drop
          && breakage == Breakage.DROPPED_USER_KEEPS_LOCKS
          && state.isAdministrator(session.user())
          && !session.user().equals(drop.user())) {
        keepLocksOf(drop.user());
      }
      add(
          operation instanceof Operation.ChangeRight right
              ? new Command.Perform(
                  perform.session(), perform.sequence(), changed(right), perform.content())
              : perform,
          proposal);
      if (lent != null) {
        addOfSpare(new Operation.ChangeRight(false, lent));
      }
    }

    private void keepLocksOf(UserName user) {
      for (Lease lease : state.leases()) {
        if (lease.user().equals(user)) {
          for (LockName lock : lease.held()) {
            addOfSpare(new Operation.TransferLock(lock, lease.id(), null));
          }
        }
      }
    }

    private Operation changed(Operation.ChangeRight change) {
      Right right = change.right();
      return switch (breakage) {
        case GRANT_COUNTS_FOR_ALL ->
            isKnown(right.grantee())
                ? new Operation.ChangeRight(
                    change.grant(), new Right(right.kind(), null, right.object(), "PUBLIC"))
                : change;
        case REVOKE_SPARES_WAITS ->
            !change.grant() && isWaitedFor(right)
                ? new Operation.ChangeRight(
                    false, new Right(Right.Kind.LOCK, null, "nobody's", right.grantee()))
                : change;
        default -> change;
      };
    }

    private boolean isKnown(String user) {
      return state.users().stream().anyMatch(account -> account.name().value().equals(user));
    }

    private boolean isWaitedFor(Right right) {
      for (Session session : state.sessions()) {
        LockName awaited = session.awaited();
        if (session.user().value().equals(right.grantee())
            && awaited != null
            && right.covers(awaited)) {
          return true;
        }
      }
      return false;
    }
  }
}
