package dev.tollgate.simulation;

import dev.tollgate.core.ClusterState;
import dev.tollgate.core.Hold;
import dev.tollgate.core.Lock;
import dev.tollgate.core.LockModel;
import dev.tollgate.core.Session;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.UserName;
import dev.tollgate.log.entry.Entry;
import dev.tollgate.log.entry.EntryBytes;
import dev.tollgate.store.SqlReader;
import dev.tollgate.store.h2.SqlValue;
import dev.tollgate.store.statement.LockAccess;
import dev.tollgate.transport.LeaseProof;
import dev.tollgate.value.StatementResult;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/** Holds what happens against the invariants of docs/architecture.md. */
final class Checker {
  private static final int TABLES_EVERY = 64;

  private record Kept(SimulatedProcess process, LeaseProof proof) {}

  private final Simulation simulation;
  private final World world;
  private final Model model;
  private final LogTimes times;
  private final Departures departures;

  /** When locks that were released may be granted again, by the lease that keeps each. */
  private final Map<Long, Long> keptUntil = new TreeMap<>();

  private final Map<Long, Integer> entries = new HashMap<>();

  /** By entry: the digest of the state after it. */
  private final Map<Long, Long> states = new HashMap<>();

  private final Map<String, Long> tokens = new TreeMap<>();
  private long highestToken;

  private final Map<Long, Kept> keptSessions = new TreeMap<>();
  private final Map<Long, Kept> keptLeases = new TreeMap<>();

  private final Map<Long, Long> touched = new TreeMap<>();
  private final Map<Long, Aging> agings = new TreeMap<>();
  private long lastExpiryCheck;

  /** Answers that clients have got tell of the log up to here. */
  private long acknowledged;

  private long checks;

  Checker(Simulation simulation) {
    this.simulation = simulation;
    this.world = simulation.world();
    this.times = new LogTimes(simulation);
    this.departures = new Departures(simulation);
    this.model = new Model(simulation.hasUsers() ? UserModel.afterSetUp() : UserModel.none());
  }

  LogTimes times() {
    return times;
  }

  Departures departures() {
    return departures;
  }

  Model model() {
    return model;
  }

  long checks() {
    return checks;
  }

  void asks(long session, long sequence, Op op) {
    model.asks(session, sequence, op);
  }

  long acknowledgedIndex() {
    return acknowledged;
  }

  /** Every node applies the same bytes at the same index. */
  void applies(String node, long index, Disk.LogEntry entry) {
    int hash = Arrays.hashCode(entry.bytes());
    Integer first = entries.putIfAbsent(index, hash);
    if (first != null && first != hash) {
      throw new Violation(
          "I6", node + " applies another entry " + index + " than was applied before");
    }
    Entry read = EntryBytes.read(entry.bytes());
    times.applies(node, read);
    if (index > model.index()) {
      List<Command> commands = read.commands();
      times.appliesFirst(index, read);
      commands.forEach(this::requireThatNobodyCountsOn);
      commands.forEach(departures::requireGone);
      model.apply(index, read.stampMicros(), commands);
      for (Model.Keep keep : model.takeKeeps()) {
        keptUntil.put(keep.lease(), world.now() + World.millis(keep.millis()));
      }
      world.tell(() -> node + " applies first " + index + " " + shortened(commands));
    }
  }

  private static String shortened(List<Command> commands) {
    String all = commands.toString();
    return all.length() < 400 ? all : all.substring(0, 400) + "...";
  }

  /** I4: what is ended for want of renewal is nothing that a client still has proof of. */
  private void requireThatNobodyCountsOn(Command command) {
    if (command instanceof Command.Expire expire) {
      for (LeaseId lease : expire.leases()) {
        requireKept(lease);
        requireNotProven(keptLeases.get(lease.value()), "lease " + lease, model.isAlive(lease));
        keptSessions.forEach(
            (session, kept) -> {
              if (model.ownLease(new SessionId(session)) == lease.value()) {
                requireNotProven(kept, "own lease " + lease + " of session " + session, true);
              }
            });
      }
      for (SessionId session : expire.sessions()) {
        boolean alive = model.ownLease(session) != 0;
        requireNotProven(keptSessions.get(session.value()), "session " + session, alive);
      }
    }
  }

  /** I11: what is kept after its release, nobody gets before its time is over. */
  private void requireKept(LeaseId lease) {
    Long until = keptUntil.get(lease.value());
    if (until != null && model.isAlive(lease)) {
      checks++;
      long left = until - world.now();
      if (left > World.millis(simulation.workload().longestKeepMillis()) * 2 * Simulation.DRIFT) {
        throw new Violation(
            "I11", "lease " + lease + " keeps its lock for " + left / 1_000_000 + " ms more");
      }
      world.count("keeps ended");
    }
  }

  private void requireNotProven(@Nullable Kept kept, String what, boolean alive) {
    checks++;
    if (kept != null && alive && kept.process.isAlive()) {
      long now = kept.process.clock();
      if (kept.proof.isProven(now)) {
        throw new Violation(
            "I4", what + " ends while " + kept.process.name() + " has proof that it is alive");
      }
    }
  }

  void applied(SimulatedNode node, long index) {
    world.count("entries applied");
    ClusterState state = node.replica().state().look(all -> all);
    if (index == model.index() && !states.containsKey(index)) {
      requireSoundLocks(state);
      if (!model.locks().equals(LockModel.describe(state))) {
        throw new Violation(
            "I9",
            "after entry "
                + index
                + " locks are "
                + LockModel.describe(state)
                + ", by the order of requests they are "
                + model.locks());
      }
    }
    if (index == model.index()) {
      times.applied(node);
    }
    compare(node, index, state);
    boolean rowsAreLeftToTheDigest = node.breakage() == Breakage.ROW_CHANGES_BEHIND_ITS_BACK;
    if (index % TABLES_EVERY == 0 && !rowsAreLeftToTheDigest) {
      checkTables(node, index);
    }
  }

  void restored(SimulatedNode node, long index) {
    compare(node, index, node.replica().state().look(all -> all));
  }

  private void compare(SimulatedNode node, long index, ClusterState state) {
    checks++;
    long digest = StateDigest.of(state);
    Long first = states.putIfAbsent(index, digest);
    if (first != null && first != digest) {
      throw new Violation(
          "I7",
          node.id()
              + " has after entry "
              + index
              + StateDigest.describe(state)
              + "\nwhich others had not; they have now"
              + simulation.describeOthers(node));
    }
  }

  /** I1 and I2, from the state alone. */
  private void requireSoundLocks(ClusterState state) {
    checks++;
    long highest = highestToken;
    for (Lock lock : state.locks()) {
      List<Hold> holds = List.copyOf(lock.holds());
      if (lock.mode() == LockMode.EXCLUSIVE && holds.size() > model.permits(lock.name().value())) {
        throw new Violation("I1", lock.name() + " is held by " + holds);
      }
      for (Hold hold : holds) {
        long token = hold.token().value();
        String key = lock.name() + "/" + hold.lease().id();
        Long before = tokens.put(key, token);
        if (before == null || before != token) {
          if (token <= highestToken) {
            throw new Violation("I2", "token " + token + " is granted after token " + highestToken);
          }
          highest = Math.max(highest, token);
        }
      }
    }
    highestToken = highest;
  }

  /** I3 and I6: the tables have what the log says, no more and no less. */
  void checkTables(SimulatedNode node, long index) {
    Map<String, Value[]> rows = rows(node);
    for (String register : model.registers()) {
      checks++;
      List<Model.Version> versions = model.versions(register);
      int last = versions.size() - 1;
      while (versions.get(last).index() > index) {
        last--;
      }
      Model.Version expected = versions.get(last);
      Value[] row = rows.get(register);
      long value = row == null ? -1 : row[1].getLong();
      long count = row == null ? -1 : row[2].getLong();
      if (value != expected.value() || count != expected.count()) {
        throw new Violation(
            count > expected.count() ? wroteTooMuch(register) : "I6",
            node.id()
                + " has after entry "
                + index
                + " value "
                + value
                + " of "
                + count
                + " writes in "
                + register
                + ", which should be "
                + expected);
      }
    }
  }

  private String wroteTooMuch(String register) {
    return switch (simulation.breakage()) {
      case FENCE_CHECKED_ON_RECEIPT, DEFINITIONS_NOT_FENCED, SERIES_FENCED_BY_ITS_FIRST -> "I3";
      default -> register.startsWith("f") ? "I3" : "I6";
    };
  }

  /** By register: its name, its value, and how often it was written. */
  private static Map<String, Value[]> rows(SimulatedNode node) {
    try {
      SqlReader.Page page =
          node.database()
              .reader()
              .query(
                  null,
                  new SqlReader.Settings(Session.INITIAL_SCHEMA, 0, UserName.ANONYMOUS),
                  Op.everyRegister(),
                  SqlValue.encodeFirst(List.of(), 0),
                  0,
                  0,
                  Op.LOCKS + Op.REGISTERS + 1,
                  LockAccess.NONE,
                  new SqlReader.Canceller());
      StatementResult.Rows rows =
          (StatementResult.Rows) StatementResult.read(page.body().bytes(), null);
      Map<String, Value[]> byName = new TreeMap<>();
      rows.rows().page().rows().forEach(row -> byName.put(row[0].getString(), row));
      return byName;
    } catch (SQLException e) {
      throw new Violation("tables", e);
    }
  }

  /** What a client was told is what the log says, and what it read was there at that time. */
  void answered(
      long session, long sequence, Op op, Op.Answer answer, boolean trusted, long beganIndex) {
    checks++;
    if (op.kind() == Op.Kind.READ) {
      requireLinearizable(op, answer, beganIndex);
      return;
    }
    if (op.kind() == Op.Kind.RENEW_LEASE) {
      return;
    }
    Model.Answered expected = model.answer(session, sequence);
    if ("55T01".equals(answer.failure()) && op.usesOwnLease() && !trusted) {
      // refused before the log: what an earlier copy of it did is taken back with the lease
      return;
    }
    if (expected == null) {
      throw new Violation("I6", "statement " + op + " is answered and in no log: " + answer);
    }
    String told = answer.failure() != null ? "refused" : String.valueOf(answer.value());
    if (!told.equals(expected.answer())) {
      boolean fence = expected.answer().contains("refused") && (op.isWrite() || op.isSeries());
      throw new Violation(
          fence ? "I3" : "I6",
          "statement "
              + op
              + " of session "
              + session
              + " is answered "
              + answer
              + ", the log says "
              + expected);
    }
    acknowledged = Math.max(acknowledged, expected.index());
  }

  private void requireLinearizable(Op op, Op.Answer answer, long beganIndex) {
    if (answer.failure() != null) {
      throw new Violation("I10", "a read failed: " + answer);
    }
    long value = Long.parseLong(String.valueOf(answer.value()));
    long count = Long.parseLong(String.valueOf(answer.second()));
    List<Model.Version> versions = model.versions(op.register());
    if (count >= versions.size() || versions.get((int) count).value() != value) {
      throw new Violation("I10", op + " reads what nobody wrote: " + answer);
    }
    if (count + 1 < versions.size() && versions.get((int) count + 1).index() <= beganIndex) {
      throw new Violation(
          "I10",
          op
              + " reads "
              + versions.get((int) count)
              + ", though its client side knew of entry "
              + beganIndex
              + " when it began");
    }
    acknowledged = Math.max(acknowledged, versions.get((int) count).index());
  }

  void keeps(SimulatedProcess process, LeaseProof proof) {
    (proof.isSession() ? keptSessions : keptLeases).put(proof.id(), new Kept(process, proof));
    if (proof.isSession()) {
      departures.opened(proof.id(), process.name());
    }
  }

  void dropped(LeaseProof proof) {
    (proof.isSession() ? keptSessions : keptLeases).remove(proof.id());
  }

  /** I8: a client says that it trusts its own lease only as long as it can. */
  void trusts(long session, boolean trusted) {
    checks++;
    Kept kept = keptSessions.get(session);
    if (trusted && kept != null && !kept.proof.isProven(kept.process.clock())) {
      throw new Violation("I8", "session " + session + " trusts a lease without proof");
    }
  }

  /** A heartbeat for these has reached some node. */
  void touched(List<Long> sessions, List<Long> leases) {
    sessions.forEach(session -> touched.put(-session, world.now()));
    leases.forEach(lease -> touched.put(lease, world.now()));
  }

  /** I5: with a leader that is well, what nobody renews ends in time, elections included. */
  void checkExpiry(long undisturbedSince) {
    model.eachLease(
        (id, ttlMillis, session) -> {
          checks++;
          long key = session == 0 ? id : -session;
          long renewed = touched.computeIfAbsent(key, fresh -> world.now());
          if (session != 0) {
            renewed = Math.max(renewed, touched.computeIfAbsent(id, fresh -> world.now()));
          }
          long latest =
              Math.max(renewed, undisturbedSince)
                  + World.millis(ttlMillis + 1_000)
                  + 5 * simulation.electionNanos();
          requireProgress(key, id, ttlMillis, renewed, undisturbedSince);
          if (world.now() > latest) {
            throw new Violation(
                "I5",
                "lease "
                    + id
                    + " of "
                    + ttlMillis
                    + " ms lives "
                    + (world.now() - renewed) / 1_000_000
                    + " ms after its last renewal, and "
                    + (world.now() - undisturbedSince) / 1_000_000
                    + " ms after the last disturbance; own lease of session "
                    + session);
          }
        });
    lastExpiryCheck = world.now();
  }

  /** How much of a lease's time has passed since it was renewed, over several leaders. */
  private static final class Aging {
    final long renewed;
    long since;
    long passed;

    Aging(long renewed, long since) {
      this.renewed = renewed;
      this.since = since;
    }
  }

  /**
   * I5 over leaders that follow each other: each may forget the step of {@code LeaseSilences} that
   * it has begun, and the first of them all that its predecessor knew.
   */
  private void requireProgress(
      long key, long id, long ttlMillis, long renewed, long undisturbedSince) {
    Aging aging = agings.get(key);
    if (aging == null || aging.renewed != renewed) {
      aging = new Aging(renewed, Math.max(renewed, undisturbedSince));
      agings.put(key, aging);
    } else if (aging.since < undisturbedSince) {
      long step = World.millis(Math.max(ttlMillis / 8, 250));
      long lost = step + World.millis(1_000) + 5 * simulation.electionNanos();
      aging.passed += Math.max(0, lastExpiryCheck - aging.since - lost);
      aging.since = undisturbedSince;
    }
    if (aging.passed > 2 * World.millis(ttlMillis)) {
      throw new Violation(
          "I5",
          "lease "
              + id
              + " of "
              + ttlMillis
              + " ms lives after leaders have kept its time for "
              + aging.passed / 1_000_000
              + " ms since its last renewal");
    }
  }
}
