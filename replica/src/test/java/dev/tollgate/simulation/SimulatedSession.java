package dev.tollgate.simulation;

import dev.tollgate.simulation.Op.Kind;
import dev.tollgate.transport.LeaseProof;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A session of a client, and a worker that uses it: sends a statement until it is answered or its
 * time is over, and the next one after a while.
 */
final class SimulatedSession implements Connection.Owner {
  private static final long CONNECT = World.millis(500);
  private static final long PING_AFTER = World.millis(1_000);
  private static final long DEAD_AFTER = World.millis(3_000);
  private static final long RENEW_WAIT = World.millis(1_000);
  private static final long FAILOVER = World.millis(20_000);
  private static final long BURST = World.millis(200);

  private final Simulation simulation;
  private final World world;
  private final SimulatedProcess process;
  private final Duration leaseTtl;
  private final Duration sessionTtl;
  private final Request.SessionOptions options;

  /** Some workers hardly ever change anything. */
  private final boolean reader;

  private final List<String> setUp;

  /** For whom it logs in; null where nobody has to. */
  private final @Nullable String user;

  private @Nullable Connection connection;
  private boolean attached;
  private boolean ended;
  private long sessionId;
  private long secret;
  private long openedAt;
  private @Nullable LeaseProof proof;
  private @Nullable LeaseProof extra;
  private long lastRead;

  private long sequence;
  private @Nullable Op op;
  private boolean sent;
  private boolean trusted;
  private long requestId;
  private long beganAt;
  private boolean inTransaction;
  private long beganClock;
  private long knownIndex;
  private long healthyAt;
  private int attempt;

  SimulatedSession(Simulation simulation, SimulatedProcess process) {
    this(simulation, process, List.of());
  }

  /**
   * @param setUp statements to run instead of a worker's
   */
  SimulatedSession(Simulation simulation, SimulatedProcess process, List<String> setUp) {
    this.simulation = simulation;
    this.world = simulation.world();
    this.process = process;
    this.setUp = new ArrayList<>(setUp);
    this.reader = world.chance(0.3);
    this.user = simulation.hasUsers() ? drawUser() : null;
    Workload workload = simulation.workload();
    this.leaseTtl = Duration.ofMillis(workload.leaseMillis(world.random));
    this.sessionTtl =
        Duration.ofMillis(
            world.chance(0.15)
                ? workload.shortSessionMillis(world.random)
                : leaseTtl.toMillis() + workload.moreThanLeaseMillis(world.random));
    this.options =
        new Request.SessionOptions(ReadConsistency.LINEARIZABLE, workload.waitMillis(world.random));
  }

  private String drawUser() {
    int dice = world.random.nextInt(3);
    return !setUp.isEmpty() || dice == 2 ? Op.ROOT : Op.USERS.get(dice);
  }

  @Override
  public @Nullable String user() {
    return user;
  }

  long sessionId() {
    return sessionId;
  }

  void start() {
    beganAt = world.now();
    healthyAt = world.now();
    attempt();
  }

  private boolean busy() {
    return op != null || sessionId == 0 || !setUp.isEmpty();
  }

  /** Sends what is under way, on the connection there is or on another one. */
  private void attempt() {
    if (ended || !busy()) {
      return;
    }
    attempt++;
    Connection current = connection;
    if (current != null && attached) {
      sendWithTrust(attempt, world.now());
    } else if (world.now() - healthyAt > FAILOVER) {
      end("no node took it in time");
    } else {
      if (current != null) {
        current.close();
      }
      Connection fresh = simulation.connect(process, process.nextNode(), this);
      connection = fresh;
      attached = false;
      // of another connection: a Ping of this one may have the same number
      requestId = 0;
      fresh.send(process.hello());
      giveUpUnlessWelcome(fresh, attempt);
    }
  }

  private void giveUpUnlessWelcome(Connection fresh, int watched) {
    long opened = world.now();
    process.later(
        CONNECT,
        () -> {
          if (watched == attempt && fresh == connection && fresh.heardAt == opened) {
            retry();
          } else {
            watch(watched);
          }
        });
  }

  /** A node that owes an answer is asked for a sign of life, and given up in the end. */
  private void watch(int watched) {
    process.later(
        PING_AFTER,
        () -> {
          Connection current = connection;
          if (watched != attempt || current == null || ended || !busy()) {
            return;
          }
          if (world.now() - current.heardAt > DEAD_AFTER) {
            retry();
          } else {
            if (world.now() - current.heardAt >= PING_AFTER) {
              current.send(new Request.Ping());
            }
            watch(watched);
          }
        });
  }

  private void retry() {
    Connection current = connection;
    if (current != null) {
      current.close();
    }
    connection = null;
    attached = false;
    int waiting = ++attempt;
    process.later(
        world.between(World.millis(10), World.millis(200)),
        () -> {
          if (waiting == attempt) {
            attempt();
          }
        });
  }

  /** Who cannot prove that its lease is alive tries a heartbeat before it says so. */
  private void sendWithTrust(int waiting, long since) {
    LeaseProof own = proof;
    Op current = op;
    if (waiting != attempt || ended || own == null || current == null) {
      return;
    }
    boolean proven = own.isProven(process.clock());
    if (!proven && !own.isLost() && world.now() - since < RENEW_WAIT) {
      if (since == world.now()) {
        process.beatNow(own);
      }
      process.later(World.millis(50), () -> sendWithTrust(waiting, since));
      return;
    }
    send(current, proven || simulation.breakage() == Breakage.LEASE_ALWAYS_TRUSTED);
  }

  private void send(Op what, boolean proven) {
    Connection current = connection;
    if (current == null) {
      return;
    }
    if (sent && takesNewNumber(what)) {
      sequence++;
      simulation.checker().asks(sessionId, sequence, what);
    }
    if (sent) {
      world.count("statements sent again");
      if (what.isSeries()) {
        world.count("series sent again");
      }
    }
    sent = true;
    trusted = proven;
    simulation.checker().trusts(sessionId, proven);
    requestId =
        current.send(
            setUp.isEmpty()
                ? OpMessages.request(what, sequence, proven)
                : OpMessages.request(setUp.get(0), sequence));
    watch(attempt);
  }

  /** Whether the driver has the bug of numbering a statement again that it sends again. */
  private boolean takesNewNumber(Op what) {
    return switch (simulation.breakage()) {
      case RETRY_UNDER_NEW_NUMBER -> true;
      case SERIES_UNDER_NEW_NUMBER -> what.isSeries();
      default -> false;
    };
  }

  @Override
  public void received(Connection from, long id, Reply reply) {
    if (from != connection || ended) {
      return;
    }
    if (reply instanceof Reply.NotLeader elsewhere) {
      process.learn(elsewhere.cluster());
      retry();
    } else if (reply instanceof Reply.LoginRequired) {
      from.send(SimulatedProcess.login(user));
    } else if (reply instanceof Reply.LoggedIn in) {
      welcomed(from, in.welcome());
    } else if (reply instanceof Reply.Welcome greeting) {
      welcomed(from, greeting);
    } else if (reply instanceof Reply.SessionReady ready) {
      ready(ready);
    } else if (attached && id == requestId && op != null) {
      answered(reply);
    } else if (attached) {
      healthyAt = world.now();
    } else if (reply instanceof Reply.Failure failure) {
      if (user != null && failure.sqlState().equals(SqlState.NO_QUORUM.state())) {
        // the node does not know the users yet
        retry();
      } else {
        end(failure.sqlState());
      }
    }
  }

  private void welcomed(Connection from, Reply.Welcome greeting) {
    process.learn(greeting.cluster());
    String leader = process.leader();
    if (leader != null && !leader.equals(from.nodeId()) && world.chance(0.8)) {
      attempt();
    } else if (sessionId == 0) {
      openedAt = process.clock();
      from.send(
          new Request.OpenSession(
              sessionTtl.toMillis(), leaseTtl.toMillis(), options, simulation.timeZone()));
    } else {
      from.send(new Request.AttachSession(sessionId, secret, true, options));
    }
  }

  private void ready(Reply.SessionReady ready) {
    attached = true;
    if (sessionId == 0) {
      sessionId = ready.sessionId();
      secret = ready.secret();
      LeaseProof own = LeaseProof.ofSession(sessionId, sessionTtl, leaseTtl, openedAt);
      proof = own;
      process.keepAlive(own);
      next();
    } else {
      world.count("sessions moved");
      attempt();
    }
  }

  private void next() {
    process.later(
        setUp.isEmpty() ? think() : 0,
        () -> {
          LeaseProof own = proof;
          if (ended || own == null) {
            return;
          }
          if (own.isLost()) {
            end("lost");
          } else if (setUp.isEmpty() && world.chance(0.004)) {
            leave();
          } else if (simulation.mayBegin()) {
            begin(setUp.isEmpty() ? choose() : new Op(Kind.WRITE, 0, 0, 0, 0, 0, 0));
          } else {
            next();
          }
        });
  }

  private long think() {
    Workload workload = simulation.workload();
    if (world.chance(0.03)) {
      return World.millis(workload.restMillis(world.random));
    }
    return world.between(0, world.chance(workload.burst()) ? BURST : simulation.thinkNanos());
  }

  private void begin(Op what) {
    op = what;
    sequence++;
    sent = false;
    beganAt = world.now();
    beganClock = process.clock();
    knownIndex = simulation.checker().acknowledgedIndex();
    healthyAt = beganAt;
    if (setUp.isEmpty()) {
      world.count("statements");
      if (what.kind() == Kind.DEFINE_MARKED) {
        world.count("definitions with marks");
      }
      if (what.isSeries()) {
        world.count("series");
      }
      simulation.checker().asks(sessionId, sequence, what);
    }
    attempt();
  }

  private Op choose() {
    int lock = world.random.nextInt(Op.LOCKS);
    long token = process.tokens().getOrDefault(lock, 0L);
    LeaseProof lease = extra;
    if (lease != null && lease.isLost()) {
      lease = null;
      extra = null;
    }
    if (lease != null && world.chance(0.02)) {
      process.drop(lease);
    }
    if (inTransaction) {
      return op(world.chance(0.6) ? Kind.COMMIT : Kind.ROLLBACK, lock, 0, 0);
    }
    if (reader && world.chance(0.85)) {
      return op(Kind.READ, lock, 0, 0);
    }
    if (simulation.hasUsers() && world.chance(Op.ROOT.equals(user) ? 0.4 : 0.1)) {
      return op(chooseAboutUsers(), lock, 0, 0);
    }
    if (simulation.usesSeries() && world.chance(0.15)) {
      return chooseSeries(lock, token);
    }
    if (simulation.looksForTransactions() && world.chance(0.3)) {
      inTransaction = true;
      return op(Kind.LOCK_IN_TRANSACTION, lock, 0, 0);
    }
    if (simulation.fencesSessions() && world.chance(0.12)) {
      return chooseAroundAFence(lock, token);
    }
    if (simulation.usesLockKinds() && world.chance(0.25)) {
      return chooseAmongLockKinds(lock, lease);
    }
    int dice = world.random.nextInt(100);
    if (dice < 12) {
      return op(Kind.TRY_ACQUIRE, lock, 0, 0);
    } else if (dice < 25) {
      return op(Kind.ACQUIRE, lock, 0, 0);
    } else if (dice < 36) {
      return op(Kind.RELEASE, lock, 0, 0);
    } else if (dice < 38) {
      return op(Kind.FORCE_RELEASE, lock, 0, 0);
    } else if (dice < 50) {
      return op(Kind.WRITE_FENCED, lock, 0, 0);
    } else if (dice < 57) {
      return op(Kind.WRITE_FENCED, lock, 0, token);
    } else if (dice < 66 && token != 0) {
      return op(Kind.WRITE_WITH_TOKEN, lock, 0, token);
    } else if (dice < 72) {
      return op(Kind.WRITE, lock, 0, 0);
    } else if (dice < 78) {
      return op(Kind.COMPARE_AND_SET, lock, 0, 0);
    } else if (dice < 88 || (lease == null && dice < 93)) {
      return op(Kind.READ, lock, 0, 0);
    } else if (lease == null) {
      return new Op(
          Kind.CREATE_LEASE,
          lock,
          0,
          simulation.workload().createdLeaseMillis(world.random),
          0,
          0,
          0);
    } else if (dice < 93) {
      return op(Kind.ACQUIRE, lock, lease.id(), 0);
    } else if (dice < 97) {
      return op(Kind.RELEASE, lock, lease.id(), 0);
    }
    return op(dice < 99 ? Kind.RENEW_LEASE : Kind.REVOKE_LEASE, lock, lease.id(), 0);
  }

  /** Of who may not do this, it is refused. */
  private Kind chooseAboutUsers() {
    int dice = world.random.nextInt(36);
    if (dice < 18) {
      return dice < 9 ? Kind.GRANT_LOCK : Kind.REVOKE_LOCK;
    } else if (dice < 20) {
      return dice == 18
          ? Kind.GRANT_FORCE
          : simulation.isTurnOf(Kind.REVOKE_MANAGE, 2) ? Kind.REVOKE_MANAGE : Kind.REVOKE_FORCE;
    } else if (dice < 23) {
      return dice < 22 ? Kind.GRANT_UPDATE : Kind.REVOKE_UPDATE;
    } else if (dice < 27) {
      return dice == 23 ? Kind.DROP_USER : Kind.CREATE_USER;
    }
    return switch (dice) {
      case 27 -> Kind.MAKE_ADMINISTRATOR;
      case 28 -> Kind.MAKE_ORDINARY;
      case 29 -> Kind.LOCK_USER;
      case 30, 31 -> Kind.UNLOCK_USER;
      case 32 -> Kind.EXPIRE_USER;
      case 33, 34 -> Kind.KEEP_USER;
      default -> simulation.isTurnOf(Kind.GRANT_MANAGE, 2) ? Kind.GRANT_MANAGE : Kind.LIMIT_WORK;
    };
  }

  private Op chooseAmongLockKinds(int lock, @Nullable LeaseProof lease) {
    int dice = world.random.nextInt(15);
    if (dice >= 12) {
      inTransaction = true;
      return op(Kind.LOCK_IN_TRANSACTION, lock, 0, 0);
    }
    if (dice < 4) {
      return op(Kind.ACQUIRE_TWO, lock, lease == null || dice > 0 ? 0 : lease.id(), 0);
    } else if (dice < 6) {
      return op(Kind.RELEASE_AND_KEEP, lock, 0, 0);
    } else if (dice < 8 && lease != null) {
      return op(Kind.TRANSFER, lock, lease.id(), 0);
    }
    return op(dice < 9 ? Kind.DEFINE_LOCK : Kind.WRITE_LOCKED, lock, 0, 0);
  }

  private Op chooseSeries(int lock, long token) {
    int dice = world.random.nextInt(8);
    Kind kind =
        dice < 3
            ? Kind.SERIES
            : dice < 4
                ? Kind.SERIES_UNTIL_FAILURE
                : dice < 6 ? Kind.SERIES_AND_COMMIT : Kind.DEFINE_MARKED;
    // until it is answered that it has committed
    inTransaction = kind == Kind.SERIES_AND_COMMIT;
    return op(kind, lock, 0, world.chance(0.5) ? token : 0);
  }

  /** Sessions are fenced for a third of the time, so that others still get through. */
  private Op chooseAroundAFence(int lock, long token) {
    int dice = world.random.nextInt(10);
    if (dice < 2 && token != 0) {
      return op(Kind.FENCE_SESSION, lock, 0, token);
    }
    return op(dice < 6 ? Kind.UNFENCE_SESSION : Kind.DEFINE, lock, 0, 0);
  }

  private Op op(Kind kind, int lock, long lease, long token) {
    return new Op(
        kind,
        lock,
        lease,
        simulation.workload().waitMillis(world.random),
        token,
        simulation.nextValue(),
        lastRead);
  }

  private void answered(Reply reply) {
    Op done = op;
    if (done == null) {
      return;
    }
    if (reply instanceof Reply.Failure failure && endsTheConnection(failure.sqlState())) {
      end(failure.sqlState());
      return;
    }
    op = null;
    if (!setUp.isEmpty()) {
      if (reply instanceof Reply.Failure failure) {
        throw new Violation("set-up", setUp.get(0) + ": " + failure.message());
      }
      setUp.remove(0);
      if (setUp.isEmpty()) {
        simulation.isSetUp();
        leave();
        return;
      }
    } else {
      Op.Answer answer = OpMessages.read(reply);
      world.count("answers");
      simulation.checker().answered(sessionId, sequence, done, answer, trusted, knownIndex);
      use(done, answer);
    }
    next();
  }

  private static boolean endsTheConnection(String state) {
    return state.startsWith("08") || state.equals(SqlState.LOGIN_REFUSED.state());
  }

  private void use(Op done, Op.Answer answer) {
    String value = answer.value();
    if (value == null) {
      return;
    }
    switch (done.kind()) {
      case TRY_ACQUIRE, ACQUIRE, TRANSFER ->
          process.tokens().put(done.lock(), Long.parseLong(value));
      case CREATE_LEASE -> {
        LeaseProof created =
            LeaseProof.ofLease(Long.parseLong(value), Duration.ofMillis(done.millis()), beganClock);
        extra = created;
        process.keepAlive(created);
      }
      case REVOKE_LEASE -> extra = null;
      case COMMIT, ROLLBACK -> inTransaction = false;
      case SERIES_AND_COMMIT -> inTransaction = value.contains("refused");
      case READ -> lastRead = Long.parseLong(value);
      default -> {}
    }
  }

  /** Closes the session, or just forgets it, and begins with another. */
  private void leave() {
    Connection current = connection;
    if (current != null && attached && world.chance(0.5)) {
      current.send(new Request.CloseSession());
    }
    end("left");
  }

  /** The session is over for this client; another takes its place. */
  private void end(String why) {
    ended = true;
    if (op != null) {
      world.count("outcomes unknown");
    }
    world.count("sessions ended");
    LeaseProof own = proof;
    if (own != null) {
      process.drop(own);
    }
    LeaseProof lease = extra;
    if (lease != null) {
      process.drop(lease);
    }
    Connection current = connection;
    if (current != null) {
      process.later(World.millis(50), current::close);
    }
    world.tell(() -> process.name() + ": session " + sessionId + " is over: " + why);
    if (!why.equals("left") || simulation.hasWork()) {
      process.later(
          world.between(0, World.millis(500)),
          () -> new SimulatedSession(simulation, process, setUp).start());
    }
  }

  @Override
  public void broken(Connection broken) {
    if (broken == connection && !ended) {
      if (busy()) {
        retry();
      } else {
        connection = null;
        attached = false;
      }
    }
  }
}
