package dev.tollgate.simulation;

import dev.tollgate.core.LockModel;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.wire.SeriesEnding;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
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
  private record LeaseFact(
      long id, String name, long session, String user, long ttlMillis, boolean keepsALock) {}

  /** A statement that waits for the lock that it takes for itself, under its own lease. */
  private record Locked(Op op, String request, LeaseFact lease) {}

  /** A lock that was released and is kept: by which lease, and for how long. */
  record Keep(long lease, long millis) {}

  /** A value of a register, and with which entry it came. */
  record Version(long index, long value, long count) {}

  /** An answer, and with which entry it came. */
  record Answered(long index, String answer) {}

  /** An open transaction, and what holds its lock. */
  private static final class TransactionFact {
    final long id;
    @Nullable LeaseFact lease;

    /** Its lock was taken from it by force. */
    boolean stale;

    TransactionFact(long id) {
      this.id = id;
    }
  }

  private static final class SessionFact {
    final String user;
    @Nullable TransactionFact transaction;

    /** Its transaction was rolled back, and it has not been told. */
    boolean transactionLost;

    long last;
    long ownLease;
    boolean lost;
    long leaseTtlMillis;

    /** The statement that fenced the session, or null. */
    @Nullable Op fence;

    SessionFact(String user) {
      this.user = user;
    }
  }

  /** The ttl of a lease that ends with a transaction or a statement. */
  private static final long UNTIMED = 0;

  private final LockModel locks = new LockModel();
  private final UserModel users;
  private final Map<Long, SessionFact> sessions = new TreeMap<>();
  private final Map<Long, LeaseFact> leases = new TreeMap<>();
  private final Map<String, List<Version>> registers = new TreeMap<>();
  private final Map<String, Op> asked = new TreeMap<>();
  private final Map<String, Answered> answers = new TreeMap<>();

  /** Statements of clients, not requests: one may have been sent in several. */
  private final Set<Op> executed = Collections.newSetFromMap(new IdentityHashMap<>());

  /** Statements that wait for their lock, in the order in which they came. */
  private final Map<String, Locked> locked = new LinkedHashMap<>();

  /** Keeps that have begun since they were last taken. */
  private final List<Keep> keeps = new ArrayList<>();

  private long lastTransaction;
  private long lastSession;
  private long logMicros;
  private long lastLease;
  private long index;

  /** Writes that were refused because of their token. */
  long refusedWrites;

  /** Those that were refused because of the token of their session's fence. */
  long refusedBySessionFence;

  Model(UserModel users) {
    this.users = users;
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

  int permits(String lock) {
    return locks.permits(lock);
  }

  List<Keep> takeKeeps() {
    List<Keep> begun = List.copyOf(keeps);
    keeps.clear();
    return begun;
  }

  long lastToken() {
    return locks.lastToken();
  }

  UserModel users() {
    return users;
  }

  /** Live leases that have a time: id, ttl, and the session whose own it is or 0. */
  void eachLease(LeaseReader reader) {
    for (LeaseFact lease : leases.values()) {
      if (lease.ttlMillis != UNTIMED) {
        reader.read(lease.id, lease.ttlMillis, lease.session);
      }
    }
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

  void apply(long at, long stampMicros, List<Command> commands) {
    index = at;
    for (Command command : commands) {
      logMicros = Math.max(logMicros, stampMicros);
      if (command instanceof Command.OpenSession open) {
        open(open);
      } else if (command instanceof Command.CloseSession close) {
        endSession(close.session().value());
      } else if (command instanceof Command.Perform perform) {
        perform(perform);
      } else if (command instanceof Command.EndWait end) {
        endWait(end);
      } else if (command instanceof Command.AbortTransaction abort) {
        abort(abort);
      } else if (command instanceof Command.Expire expire) {
        expire.sessions().forEach(id -> endSession(id.value()));
        expire.leases().forEach(id -> endLease(id.value()));
      } else if (command instanceof Command.ResetLogTime && stampMicros > 0) {
        logMicros = stampMicros;
      }
      runLocked();
      if (users.takeChanged()) {
        endForbiddenWaits();
        runLocked();
      }
      takeAnswers();
    }
  }

  private void open(Command.OpenSession open) {
    String user = open.user().value();
    if (users.mayOpen(user, open.userNumber(), logMicros)) {
      SessionFact fact = new SessionFact(user);
      fact.leaseTtlMillis = open.leaseTtlMillis();
      sessions.put(++lastSession, fact);
    }
  }

  /** A wait ends with the right to the lock, or to one of the locks. */
  private void endForbiddenWaits() {
    locks.endTogether(
        () ->
            sessions.forEach(
                (id, session) -> {
                  List<String> awaited = locks.awaitedBy(id + "/" + session.last);
                  if (!awaited.isEmpty() && !users.mayLock(session.user, awaited)) {
                    users.count("waits ended for want of a right");
                    refuseWait(id, session);
                  }
                }));
  }

  private void refuseWait(long id, SessionFact session) {
    if (!giveUpLocked(id + "/" + session.last)) {
      locks.endWait(id + "/" + session.last, "refused");
    }
  }

  private String changeUsers(SessionFact session, Op op) {
    String answer = users.execute(op, session.user);
    if (!users.mayHaveSessions(op.user())) {
      locks.endTogether(() -> endAllOf(op.user()));
    }
    return answer;
  }

  private void endAllOf(String user) {
    Map<Long, SessionFact> ending = new TreeMap<>(sessions);
    ending.values().removeIf(session -> !session.user.equals(user));
    ending.forEach(this::refuseWait);
    ending.keySet().forEach(this::endSession);
    List<LeaseFact> left =
        leases.values().stream().filter(lease -> lease.user.equals(user)).toList();
    left.forEach(lease -> endLease(lease.id));
  }

  /** Runs the statements that have been granted their lock, which makes way for others. */
  private void runLocked() {
    boolean again = true;
    while (again) {
      again = false;
      for (Locked statement : List.copyOf(locked.values())) {
        if (locks.isHeldBy(statement.op.lockName(), statement.lease.name)) {
          locked.remove(statement.request);
          locks.answers.remove(statement.request);
          SessionFact session = sessions.get(sessionOf(statement.request));
          String answer = session == null ? "refused" : writeUnderItsLock(session, statement.op);
          answers.put(statement.request, new Answered(index, answer));
          endLocked(statement);
          again = true;
        }
      }
    }
  }

  private static long sessionOf(String request) {
    return Long.parseLong(request.substring(0, request.indexOf('/')));
  }

  private void endLocked(Locked statement) {
    leases.remove(statement.lease.id);
    locks.endLease(statement.lease.name);
  }

  /** Ends the wait of a statement for its own lock; false if none waits under this number. */
  private boolean giveUpLocked(String request) {
    Locked statement = locked.remove(request);
    if (statement == null) {
      return false;
    }
    locks.endWait(request, "refused");
    endLocked(statement);
    return true;
  }

  private String writeUnderItsLock(SessionFact session, Op op) {
    if (!users.mayUpdate(session.user)) {
      return "refused";
    }
    Op fence = session.fence;
    if (fence != null && !locks.heldExclusively(fence.lockName(), fence.token())) {
      refusedBySessionFence++;
      return refusedWrite();
    }
    if (fence != null && !users.mayLock(session.user, List.of(fence.lockName()))) {
      users.count("refused for want of a right");
      return "refused";
    }
    return write(op);
  }

  private String writeLocked(SessionFact session, String request, Op op, boolean trusted) {
    if (ownToken(session, op.lockName())) {
      return trusted ? writeUnderItsLock(session, op) : "refused";
    }
    long id = createLease(0, session.user, UNTIMED);
    LeaseFact lease = leases.get(id);
    Locked statement = new Locked(op, request, lease);
    if (locks.acquire(request, op.lockName(), lease.name, false, true).equals("waiting")) {
      locked.put(request, statement);
      return "waiting";
    }
    String answer = writeUnderItsLock(session, op);
    endLocked(statement);
    return answer;
  }

  private void takeAnswers() {
    locks.answers.forEach(
        (request, answer) -> answers.put(request, new Answered(index, words(answer))));
    locks.answers.clear();
  }

  private static String words(String answer) {
    return switch (answer) {
      case "LEASE_GONE",
          "WAIT_CANCELLED",
          "SESSION_GONE",
          "LOCK_UPGRADE",
          "LOCK_STATE",
          "TRANSACTION_LOST" ->
          "refused";
      case "not granted" -> "null";
      default -> answer.replaceFirst("tokens? ", "");
    };
  }

  private void perform(Command.Perform command) {
    long id = command.session().value();
    SessionFact session = sessions.get(id);
    if (session == null || command.sequence() <= session.last) {
      return;
    }
    if (!giveUpLocked(id + "/" + session.last)) {
      locks.endWait(id + "/" + session.last, "WAIT_CANCELLED");
    }
    session.last = command.sequence();
    String request = id + "/" + command.sequence();
    Op op = asked.get(request);
    if (op == null) {
      return;
    }
    if (!executed.add(op)) {
      throw new Violation("I6", "statement " + op + " takes effect twice, now as " + request);
    }
    boolean trusted = isTrusted(command.operation());
    String answer = execute(id, session, request, op, trusted);
    if (!answer.equals("waiting")) {
      answers.put(request, new Answered(index, answer));
    }
  }

  private String execute(long id, SessionFact session, String request, Op op, boolean trusted) {
    Op fence = session.fence;
    boolean writesNow = op.isWrite() && op.kind() != Op.Kind.WRITE_LOCKED;
    if (writesNow && fence != null && !locks.heldExclusively(fence.lockName(), fence.token())) {
      refusedBySessionFence++;
      return refusedWrite();
    }
    boolean fenceForbidden =
        writesNow && fence != null && !users.mayLock(session.user, List.of(fence.lockName()));
    if (fenceForbidden || isForbidden(session.user, op)) {
      users.count("refused for want of a right");
      return "refused";
    }
    return switch (op.kind()) {
      case TRY_ACQUIRE, ACQUIRE -> acquire(id, session, request, op);
      case RELEASE -> release(session, op);
      case FORCE_RELEASE -> forceRelease(op);
      case LOCK_IN_TRANSACTION -> lockInTransaction(session, request, op);
      case COMMIT, ROLLBACK -> endTransaction(session, op.kind() == Op.Kind.COMMIT);
      case ACQUIRE_TWO -> acquireTwo(id, session, request, op);
      case RELEASE_AND_KEEP -> releaseAndKeep(session, op);
      case TRANSFER -> transfer(id, session, op);
      case DEFINE_LOCK -> defineLock(op);
      case WRITE_LOCKED -> writeLocked(session, request, op, trusted);
      case CREATE_LEASE -> Long.toString(createLease(0, session.user, op.millis()));
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
      case SERIES, SERIES_UNTIL_FAILURE, SERIES_AND_COMMIT ->
          series(id, session, request, op, trusted);
      case DEFINE_MARKED -> defineMarked(id, session, request, op, trusted);
      case GRANT_LOCK,
          REVOKE_LOCK,
          GRANT_FORCE,
          REVOKE_FORCE,
          GRANT_MANAGE,
          REVOKE_MANAGE,
          GRANT_UPDATE,
          REVOKE_UPDATE,
          CREATE_USER,
          DROP_USER,
          MAKE_ADMINISTRATOR,
          MAKE_ORDINARY,
          LIMIT_WORK,
          LOCK_USER,
          UNLOCK_USER,
          EXPIRE_USER,
          KEEP_USER ->
          changeUsers(session, op);
      case READ, RENEW_LEASE -> throw new Violation("I6", "a query is in the log: " + op);
    };
  }

  /** Whether the user may not do this at all, at this place of the log. */
  private boolean isForbidden(String user, Op op) {
    return switch (op.kind()) {
      case TRY_ACQUIRE, ACQUIRE, TRANSFER, WRITE_LOCKED ->
          !users.mayLock(user, List.of(op.lockName()));
      case ACQUIRE_TWO -> !users.mayLock(user, op.lockNames());
      case FORCE_RELEASE -> !users.mayForce(user, op.lockName());
      case WRITE_FENCED, WRITE_WITH_TOKEN ->
          !users.mayUpdate(user) || !users.mayLock(user, List.of(op.lockName()));
      case WRITE, COMPARE_AND_SET -> !users.mayUpdate(user);
      case DEFINE_LOCK -> !users.managesLocks(user);
      case DEFINE -> !users.administers(user);
      default -> false;
    };
  }

  /** Only its first statement can fail if it commits: so it leaves no row behind uncommitted. */
  private String series(long id, SessionFact session, String request, Op op, boolean trusted) {
    boolean commits = op.ending() == SeriesEnding.COMMIT;
    if (commits && session.transactionLost) {
      session.transactionLost = false;
      return "refused";
    }
    List<String> results = new ArrayList<>();
    for (Op part : op.parts()) {
      results.add(execute(id, session, request, part, trusted));
      if (op.ending() != SeriesEnding.RUN_ALL && results.contains("refused")) {
        break;
      }
    }
    if (commits) {
      TransactionFact transaction = new TransactionFact(++lastTransaction);
      if (results.contains("refused")) {
        session.transaction = transaction;
      } else {
        results.add("0");
      }
    }
    return String.join(",", results);
  }

  private static boolean isTrusted(Operation operation) {
    if (operation instanceof Operation.DefineMarked marked) {
      return marked.marks().get(0).ownLeaseTrusted();
    }
    return !(operation instanceof Operation.Executions executions)
        || executions.statement(0).ownLeaseTrusted();
  }

  /** A definition that is refused takes its mark back. */
  private String defineMarked(
      long id, SessionFact session, String request, Op op, boolean trusted) {
    if (session.transactionLost) {
      session.transactionLost = false;
      return "refused";
    }
    lastTransaction++;
    Op marking = op.parts().get(0);
    String mark = execute(id, session, request, marking, trusted);
    if (mark.equals("refused")) {
      return mark;
    }
    String definition = execute(id, session, request, op.parts().get(1), trusted);
    if (definition.equals("refused")) {
      List<Version> all = versions(marking.register());
      all.remove(all.size() - 1);
      return mark + ",refused";
    }
    return mark + "," + definition + ",0";
  }

  private boolean ownToken(SessionFact session, String lock) {
    LeaseFact own = leases.get(session.ownLease);
    return own != null && locks.exclusiveToken(lock, own.name).isPresent();
  }

  private String lockInTransaction(SessionFact session, String request, Op op) {
    if (session.transactionLost) {
      session.transactionLost = false;
      return "refused";
    }
    TransactionFact transaction = session.transaction;
    if (transaction == null) {
      transaction = new TransactionFact(++lastTransaction);
      session.transaction = transaction;
    }
    if (!users.mayLock(session.user, List.of(op.lockName()))) {
      return "refused";
    }
    LeaseFact own = leases.get(session.ownLease);
    if (own != null && locks.exclusiveToken(op.lockName(), own.name).isPresent()) {
      return locks.exclusiveToken(op.lockName(), own.name).orElseThrow().toString();
    }
    LeaseFact lease = transaction.lease;
    if (lease == null) {
      lease = leases.get(createLease(0, session.user, UNTIMED));
      transaction.lease = lease;
    }
    return words(locks.acquire(request, op.lockName(), lease.name, false, true));
  }

  private String endTransaction(SessionFact session, boolean commit) {
    TransactionFact transaction = session.transaction;
    boolean lost = session.transactionLost;
    session.transactionLost = false;
    if (transaction == null) {
      return commit && lost ? "refused" : "0";
    }
    leave(session, transaction);
    return commit && transaction.stale ? "refused" : "0";
  }

  private void leave(SessionFact session, TransactionFact transaction) {
    session.transaction = null;
    if (transaction.lease != null) {
      leases.remove(transaction.lease.id);
      locks.endLease(transaction.lease.name);
    }
  }

  private void abort(Command.AbortTransaction abort) {
    SessionFact session = sessions.get(abort.session().value());
    TransactionFact transaction = session == null ? null : session.transaction;
    if (session == null || transaction == null || transaction.id != abort.transaction()) {
      return;
    }
    String request = abort.session() + "/" + session.last;
    boolean waits = transaction.lease != null && locks.isWaiting(request);
    if (abort.reason() == Command.AbortReason.IDLE && locks.isWaiting(request)) {
      return;
    }
    if (waits && locks.isWaitingFor(request, transaction.lease.name)) {
      locks.endWait(request, "TRANSACTION_LOST");
    } else {
      session.transactionLost = true;
    }
    leave(session, transaction);
  }

  private String forceRelease(Op op) {
    for (SessionFact session : sessions.values()) {
      TransactionFact transaction = session.transaction;
      if (transaction != null
          && transaction.lease != null
          && locks.isHeldBy(op.lockName(), transaction.lease.name)) {
        transaction.stale = true;
      }
    }
    boolean did = locks.forceRelease(op.lockName());
    leases.values().removeIf(lease -> lease.keepsALock && !locks.holdsAnything(lease.name));
    return bool(did);
  }

  private String acquireTwo(long id, SessionFact session, String request, Op op) {
    LeaseFact lease = leaseOf(id, session, op.lease());
    return lease == null
        ? "refused"
        : words(locks.acquireAll(request, op.lockNames(), lease.name, true));
  }

  private String releaseAndKeep(SessionFact session, Op op) {
    LeaseFact own = leases.get(session.ownLease);
    if (own == null) {
      boolean refused = session.lost;
      session.lost = false;
      return refused ? "refused" : "FALSE";
    }
    if (!locks.isHeldBy(op.lockName(), own.name)) {
      return "FALSE";
    }
    long id = ++lastLease;
    LeaseFact keeper = new LeaseFact(id, "lease" + id, 0, session.user, op.millis(), true);
    leases.put(id, keeper);
    keeps.add(new Keep(id, op.millis()));
    return bool(locks.releaseAndKeep(op.lockName(), own.name, keeper.name));
  }

  private String transfer(long id, SessionFact session, Op op) {
    LeaseFact from = leases.get(op.handsBack() ? op.lease() : session.ownLease);
    if (from == null) {
      boolean refused = op.handsBack() || session.lost;
      session.lost = op.handsBack() && session.lost;
      return refused ? "refused" : "null";
    }
    if (!locks.isHeldBy(op.lockName(), from.name)) {
      return "null";
    }
    LeaseFact to = leaseOf(id, session, op.handsBack() ? 0 : op.lease());
    return to == null ? "refused" : words(locks.transfer(op.lockName(), from.name, to.name));
  }

  private String defineLock(Op op) {
    String lock = op.lockName();
    boolean known = locks.isDefined(lock);
    String answer =
        switch (op.permits()) {
          case 0 -> known ? locks.dropDefinition(lock) : "done";
          case 1 -> known ? "done" : locks.define(lock, 2, /* isNew= */ true);
          default -> known ? locks.define(lock, 2, /* isNew= */ false) : "done";
        };
    return answer.equals("done") ? "0" : "refused";
  }

  private String acquire(long id, SessionFact session, String request, Op op) {
    LeaseFact lease = leaseOf(id, session, op.lease());
    return lease == null
        ? "refused"
        : words(
            locks.acquire(request, op.lockName(), lease.name, false, op.kind() == Op.Kind.ACQUIRE));
  }

  /** The lease that a statement names, 0 for the session's own; null if it is refused. */
  private @Nullable LeaseFact leaseOf(long id, SessionFact session, long stated) {
    LeaseFact lease = leases.get(stated == 0 ? session.ownLease : stated);
    if (lease != null || stated != 0) {
      return lease;
    }
    if (session.lost) {
      session.lost = false;
      return null;
    }
    session.ownLease = createLease(id, session.user, session.leaseTtlMillis);
    return leases.get(session.ownLease);
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

  private long createLease(long session, String user, long ttlMillis) {
    long id = ++lastLease;
    leases.put(id, new LeaseFact(id, "lease" + id, session, user, ttlMillis, false));
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
      if (!giveUpLocked(id + "/" + session.last)) {
        locks.endWait(id + "/" + session.last, "SESSION_GONE");
      }
      TransactionFact transaction = session.transaction;
      if (transaction != null) {
        leave(session, transaction);
      }
      endLease(session.ownLease);
      sessions.remove(id);
    }
  }

  private void endWait(Command.EndWait command) {
    SessionFact session = sessions.get(command.session().value());
    if (session != null
        && session.last == command.sequence()
        && !giveUpLocked(command.session() + "/" + command.sequence())) {
      locks.endWait(
          command.session() + "/" + command.sequence(),
          command.reason() == Command.WaitEnd.TIMED_OUT ? "not granted" : "WAIT_CANCELLED");
    }
  }
}
