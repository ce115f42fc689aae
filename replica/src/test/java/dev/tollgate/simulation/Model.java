package dev.tollgate.simulation;

import dev.tollgate.core.LockModel;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.SessionId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What a cluster should be after each entry of its log, worked out from what the clients asked for
 * and the order in which the log has it. It shares no code with the product but the commands.
 */
final class Model {
  /** A lease; {@code session} is that whose own lease it is, or 0. */
  private record LeaseFact(long id, String name, long session, long ttlMillis) {}

  /** A value of a register, and with which entry it came. */
  record Version(long index, long value, long count) {}

  /** An answer, and with which entry it came. */
  record Answered(long index, String answer) {}

  private static final class SessionFact {
    long last;
    long ownLease;
    boolean lost;
    long leaseTtlMillis;

    /** The statement that fenced the session, or null. */
    @Nullable Op fence;
  }

  private final LockModel locks = new LockModel();
  private final Map<Long, SessionFact> sessions = new TreeMap<>();
  private final Map<Long, LeaseFact> leases = new TreeMap<>();
  private final Map<String, List<Version>> registers = new TreeMap<>();
  private final Map<String, Op> asked = new TreeMap<>();
  private final Map<String, Answered> answers = new TreeMap<>();

  /** Statements of clients, not requests: one may have been sent in several. */
  private final Set<Op> executed = Collections.newSetFromMap(new IdentityHashMap<>());

  private long lastSession;
  private long lastLease;
  private long index;

  /** Writes that were refused because of their token. */
  long refusedWrites;

  /** Those that were refused because of the token of their session's fence. */
  long refusedBySessionFence;

  Model() {
    for (int i = 0; i < Op.REGISTERS; i++) {
      registers.put("r" + i, new ArrayList<>(List.of(new Version(0, 0, 0))));
    }
    for (int i = 0; i < Op.LOCKS; i++) {
      registers.put("f" + i, new ArrayList<>(List.of(new Version(0, 0, 0))));
    }
  }

  /** A client is about to send this. */
  void asks(long session, long sequence, Op op) {
    asked.put(session + "/" + sequence, op);
  }

  @Nullable Op asked(long session, long sequence) {
    return asked.get(session + "/" + sequence);
  }

  long index() {
    return index;
  }

  /** The last word on a statement, or null if the log has none yet. */
  @Nullable Answered answer(long session, long sequence) {
    return answers.get(session + "/" + sequence);
  }

  List<Version> versions(String register) {
    return registers.getOrDefault(register, List.of());
  }

  Iterable<String> registers() {
    return registers.keySet();
  }

  String locks() {
    return locks.describe();
  }

  long lastToken() {
    return locks.lastToken();
  }

  /** Live leases: id, ttl, and the session whose own it is or 0. */
  void eachLease(LeaseReader reader) {
    leases.values().forEach(lease -> reader.read(lease.id, lease.ttlMillis, lease.session));
  }

  /** Hears of a lease. */
  interface LeaseReader {
    void read(long id, long ttlMillis, long session);
  }

  boolean isAlive(LeaseId lease) {
    return leases.containsKey(lease.value());
  }

  /** The own lease of a session, or 0. */
  long ownLease(SessionId session) {
    SessionFact fact = sessions.get(session.value());
    return fact == null ? 0 : fact.ownLease;
  }

  void apply(long at, List<Command> commands) {
    index = at;
    for (Command command : commands) {
      if (command instanceof Command.OpenSession open) {
        SessionFact fact = new SessionFact();
        fact.leaseTtlMillis = open.leaseTtlMillis();
        sessions.put(++lastSession, fact);
      } else if (command instanceof Command.CloseSession close) {
        endSession(close.session().value());
      } else if (command instanceof Command.Perform perform) {
        perform(perform);
      } else if (command instanceof Command.EndWait end) {
        endWait(end);
      } else if (command instanceof Command.Expire expire) {
        expire.sessions().forEach(id -> endSession(id.value()));
        expire.leases().forEach(id -> endLease(id.value()));
      }
      takeAnswers();
    }
  }

  private void takeAnswers() {
    locks.answers.forEach(
        (request, answer) -> answers.put(request, new Answered(index, words(answer))));
    locks.answers.clear();
  }

  private static String words(String answer) {
    return switch (answer) {
      case "LEASE_GONE", "WAIT_CANCELLED", "SESSION_GONE", "LOCK_UPGRADE" -> "refused";
      case "not granted" -> "null";
      default -> answer.startsWith("token ") ? answer.substring(6) : answer;
    };
  }

  private void perform(Command.Perform command) {
    long id = command.session().value();
    SessionFact session = sessions.get(id);
    if (session == null || command.sequence() <= session.last) {
      return;
    }
    locks.endWait(id + "/" + session.last, "WAIT_CANCELLED");
    session.last = command.sequence();
    String request = id + "/" + command.sequence();
    Op op = asked.get(request);
    if (op == null) {
      return;
    }
    if (!executed.add(op)) {
      throw new Violation("I6", "statement " + op + " takes effect twice, now as " + request);
    }
    boolean trusted =
        !(command.operation() instanceof Operation.ExecuteSql sql) || sql.ownLeaseTrusted();
    String answer = execute(id, session, request, op, trusted);
    if (!answer.equals("waiting")) {
      answers.put(request, new Answered(index, answer));
    }
  }

  private String execute(long id, SessionFact session, String request, Op op, boolean trusted) {
    Op fence = session.fence;
    if (op.isWrite() && fence != null && !locks.heldExclusively(fence.lockName(), fence.token())) {
      refusedBySessionFence++;
      return refusedWrite();
    }
    return switch (op.kind()) {
      case TRY_ACQUIRE, ACQUIRE -> acquire(id, session, request, op);
      case RELEASE -> release(session, op);
      case FORCE_RELEASE -> bool(locks.forceRelease(op.lockName()));
      case CREATE_LEASE -> Long.toString(createLease(0, op.millis()));
      case REVOKE_LEASE -> bool(endLease(op.lease()));
      case WRITE_FENCED -> {
        boolean admitted =
            op.token() != 0
                ? locks.heldExclusively(op.lockName(), op.token())
                : (fence != null && fence.lock() == op.lock())
                    || (trusted && ownToken(session, op.lockName()));
        yield admitted ? write(op) : refusedWrite();
      }
      case WRITE_WITH_TOKEN ->
          locks.heldExclusively(op.lockName(), op.token()) ? write(op) : refusedWrite();
      case WRITE -> write(op);
      case COMPARE_AND_SET -> latest(op.register()).value() == op.expected() ? write(op) : "0";
      case FENCE_SESSION -> fenceSession(session, op);
      case UNFENCE_SESSION -> fenceSession(session, null);
      case DEFINE -> define();
      case READ, RENEW_LEASE -> throw new Violation("I6", "a query is in the log: " + op);
    };
  }

  private boolean ownToken(SessionFact session, String lock) {
    LeaseFact own = leases.get(session.ownLease);
    return own != null && locks.exclusiveToken(lock, own.name).isPresent();
  }

  private String acquire(long id, SessionFact session, String request, Op op) {
    LeaseFact lease = leases.get(op.lease() == 0 ? session.ownLease : op.lease());
    if (lease == null) {
      if (op.lease() != 0) {
        return "refused";
      }
      if (session.lost) {
        session.lost = false;
        return "refused";
      }
      session.ownLease = createLease(id, session.leaseTtlMillis);
      lease = leases.get(session.ownLease);
    }
    return words(
        locks.acquire(request, op.lockName(), lease.name, false, op.kind() == Op.Kind.ACQUIRE));
  }

  private String release(SessionFact session, Op op) {
    LeaseFact lease = leases.get(op.lease() == 0 ? session.ownLease : op.lease());
    if (lease != null) {
      return bool(locks.release(op.lockName(), lease.name));
    }
    boolean refused = op.lease() != 0 || session.lost;
    session.lost = op.lease() != 0 && session.lost;
    return refused ? "refused" : "FALSE";
  }

  private static String bool(boolean answer) {
    return answer ? "TRUE" : "FALSE";
  }

  private String write(Op op) {
    Version before = latest(op.register());
    registers
        .computeIfAbsent(op.register(), name -> new ArrayList<>())
        .add(new Version(index, op.value(), before.count() + 1));
    return "1";
  }

  private static String fenceSession(SessionFact session, @Nullable Op fence) {
    session.fence = fence;
    return "0";
  }

  private String define() {
    for (int i = 0; i < Op.REGISTERS; i++) {
      List<Version> all = registers.computeIfAbsent("r" + i, name -> new ArrayList<>());
      Version before = all.get(all.size() - 1);
      all.add(new Version(index, before.value(), before.count() + 1));
    }
    return "0";
  }

  private String refusedWrite() {
    refusedWrites++;
    return "refused";
  }

  Version latest(String register) {
    List<Version> all = versions(register);
    return all.get(all.size() - 1);
  }

  private long createLease(long session, long ttlMillis) {
    long id = ++lastLease;
    leases.put(id, new LeaseFact(id, "lease" + id, session, ttlMillis));
    return id;
  }

  private boolean endLease(long id) {
    LeaseFact lease = leases.remove(id);
    if (lease == null) {
      return false;
    }
    SessionFact owner = lease.session == 0 ? null : sessions.get(lease.session);
    if (owner != null) {
      owner.ownLease = 0;
      owner.lost = false;
      for (int lock = 0; lock < Op.LOCKS; lock++) {
        owner.lost |= locks.exclusiveToken(Op.lockName(lock), lease.name).isPresent();
      }
    }
    locks.endLease(lease.name);
    return true;
  }

  private void endSession(long id) {
    SessionFact session = sessions.get(id);
    if (session != null) {
      locks.endWait(id + "/" + session.last, "SESSION_GONE");
      endLease(session.ownLease);
      sessions.remove(id);
    }
  }

  private void endWait(Command.EndWait command) {
    SessionFact session = sessions.get(command.session().value());
    if (session != null && session.last == command.sequence()) {
      locks.endWait(
          command.session() + "/" + command.sequence(),
          command.reason() == Command.WaitEnd.TIMED_OUT ? "not granted" : "WAIT_CANCELLED");
    }
  }
}
