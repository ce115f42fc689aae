package dev.tollgate.core;

import dev.tollgate.core.command.AuditEvent;
import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.LogPosition;
import dev.tollgate.core.command.Notice;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.UserName;
import dev.tollgate.log.entry.EntryBytes;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Applies commands one after the other, numbers them, and checks every invariant after each. */
final class CoreDriver {
  static final ClientInfo CLIENT = new ClientInfo("app", "host", "1@host");
  static final long LEASE_TTL_MILLIS = 15_000;
  static final long WAIT_MILLIS = 10_000;

  final FakeSqlStore store = new FakeSqlStore();
  final StateMachine machine;

  /** The notices of the last command. */
  List<Notice> notices = List.of();

  /** What auditors are told of the last command. */
  List<AuditEvent> events = List.of();

  private final List<Long> sequences = new ArrayList<>();
  private long logIndex;
  private long timeMicros = 1_000_000;

  CoreDriver() {
    this(Capacity.STANDARD);
  }

  CoreDriver(Capacity capacity) {
    machine = new StateMachine(store, capacity);
  }

  Outcome apply(Command command) {
    logIndex++;
    timeMicros += 1_000;
    StateMachine.Applied applied =
        machine.apply(new LogPosition(logIndex, 0, timeMicros), EntryBytes.read(command));
    machine.checkInvariants();
    notices = applied.notices();
    events = applied.events();
    return applied.outcome();
  }

  SessionId open() {
    Outcome outcome = apply(new Command.OpenSession(CLIENT, 7, 60_000, LEASE_TTL_MILLIS));
    return ((Outcome.SessionOpened) outcome).session();
  }

  /** Opens a session of a user that exists. */
  SessionId open(UserName user) {
    return ((Outcome.SessionOpened) tryOpen(user)).session();
  }

  Outcome tryOpen(UserName user) {
    return apply(new Command.OpenSession(CLIENT, 7, 60_000, LEASE_TTL_MILLIS, user));
  }

  Outcome perform(SessionId session, Operation operation) {
    return apply(new Command.Perform(session, nextSequence(session), operation));
  }

  long nextSequence(SessionId session) {
    int at = (int) session.value();
    while (sequences.size() <= at) {
      sequences.add(0L);
    }
    sequences.set(at, sequences.get(at) + 1);
    return sequences.get(at);
  }

  /** The number of the session's last operation, 0 before the first. */
  long lastSequence(SessionId session) {
    int at = (int) session.value();
    return at < sequences.size() ? sequences.get(at) : 0;
  }

  LeaseId lease(SessionId session) {
    Outcome outcome = perform(session, new Operation.CreateLease(LEASE_TTL_MILLIS, "owner"));
    return ((Outcome.LeaseCreated) outcome).lease();
  }

  /** Asks for the lock and waits for it if need be. */
  Outcome acquire(SessionId session, String lock, @Nullable LeaseId lease) {
    return acquire(session, lock, lease, LockMode.EXCLUSIVE, WAIT_MILLIS);
  }

  Outcome acquire(
      SessionId session, String lock, @Nullable LeaseId lease, LockMode mode, long waitMillis) {
    return perform(session, new Operation.AcquireLock(new LockName(lock), lease, mode, waitMillis));
  }

  /** Takes a lock that is expected to be free. */
  long take(SessionId session, String lock) {
    return token(acquire(session, lock, null));
  }

  boolean release(SessionId session, String lock) {
    return ((Outcome.Answered)
            perform(session, new Operation.ReleaseLock(new LockName(lock), null, 0)))
        .answer();
  }

  static long token(Outcome outcome) {
    return ((Outcome.Granted) outcome).token().value();
  }

  static RefusalCode refusal(Outcome outcome) {
    return ((Outcome.Refused) outcome).code();
  }

  /** The outcome that the last command completed for this session's waiting operation, or null. */
  @Nullable Outcome completed(SessionId session) {
    for (Notice notice : notices) {
      if (notice instanceof Notice.Completed done
          && done.session().equals(session)
          && done.sequence() == lastSequence(session)) {
        return done.outcome();
      }
    }
    return null;
  }
}
