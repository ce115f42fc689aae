package dev.tollgate.transport;

import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * The one control connection of a process to a cluster, and its thread. Sends the heartbeats of all
 * sessions and leases to the leader, receives notices of losses, and carries cancellations. Shares
 * no socket and no lock with a session, so that a long or stuck query never costs a lease.
 *
 * <p>Single use: started with the first member, closed after the last. Thread-safe.
 *
 * <p>Members are held by weak references. A member that was dropped without being closed gets no
 * more heartbeats. The cluster therefore ends it after its ttl, and its locks pass on.
 */
final class ControlLink implements AutoCloseable {
  private static final Logger LOG = System.getLogger("dev.tollgate.transport");

  /** Ids of one heartbeat frame: few enough that the frame fits any socket's buffer. */
  private static final int HEARTBEAT_IDS = 4_000;

  /**
   * Heartbeats without an answer that are remembered; at this number all of them are forgotten.
   * Also cancellations that wait to be sent; at this number new ones are dropped.
   */
  private static final int MAX_PENDING = 1_000;

  /** How long one search for the leader goes on before the next one starts. */
  private static final Duration SEARCH = Duration.ofSeconds(10);

  /** Only a leader acknowledges it. A node that hears no other one does not know who leads. */
  private static final Request.Heartbeat NOTHING_TO_RENEW =
      new Request.Heartbeat(List.of(), List.of());

  private static final long FIRST_PAUSE_MILLIS = 20;
  private static final long LONGEST_PAUSE_MILLIS = 200;
  private static final long PAUSE_AFTER_LOGIN_MILLIS = 5_000;

  private record Member(Renewal.Kind kind, WeakReference<Renewal> renewal) {}

  /** A heartbeat that is not answered yet. */
  private record Beat(long sentNanos, List<Renewal> members) {}

  /** A connection with the heartbeats, and the questions for holders, that were sent on it. */
  private record Line(NodeConnection node, Map<Long, Beat> pending, Map<Long, HolderWatch> asked) {}

  private final NodeFinder finder;
  private final SendWatch watch;
  private final Moves moves;
  private final Timekeeping environment;
  private final Runnable onDropped;
  private final Thread thread;
  private final Set<Member> members = ConcurrentHashMap.newKeySet();
  private final Set<HolderWatch> watches = ConcurrentHashMap.newKeySet();
  private final LockWatches locks;
  private final Queue<Request.Cancel> cancellations = new ConcurrentLinkedQueue<>();
  private volatile @Nullable Line line;
  private volatile boolean closed;
  private long pauseMillis = FIRST_PAUSE_MILLIS;

  /**
   * @param onDropped called for each member that was dropped without being closed
   */
  ControlLink(
      String name,
      NodeFinder finder,
      SendWatch watch,
      Moves moves,
      Timekeeping environment,
      Runnable onDropped) {
    this.finder = finder;
    this.watch = watch;
    this.moves = moves;
    this.environment = environment;
    this.onDropped = onDropped;
    this.locks = new LockWatches(environment);
    this.thread = DaemonThreads.serving(this::run, "tollgate-control-" + name);
  }

  void start() {
    thread.start();
  }

  /** Starts heartbeats for a member, with the next heartbeat or, if that is too late, at once. */
  void add(Renewal renewal) {
    Duration intervalBefore = shortestInterval();
    members.add(new Member(renewal.kind(), new WeakReference<>(renewal)));
    if (renewal.interval().compareTo(intervalBefore) < 0) {
      beatNow(reachableMembers());
    }
  }

  void remove(Renewal renewal) {
    members.removeIf(member -> member.renewal().refersTo(renewal));
  }

  /** Begins to ask for the holder of a lock, and asks again whenever that has changed. */
  void add(HolderWatch watch) {
    watches.add(watch);
    Line current = line;
    if (current != null) {
      try {
        askFor(watch, current);
      } catch (IOException e) {
        // the thread finds the connection broken and asks on the next one
        current.node().close();
      }
    }
  }

  void remove(HolderWatch watch) {
    watches.remove(watch);
  }

  /**
   * Begins to watch a lock that a lease holds.
   *
   * @param requestedNanos a moment before the lock was requested
   */
  void add(WatchedLocks lease, LockWatch watch, long requestedNanos) {
    locks.add(lease, watch, requestedNanos);
    Line current = line;
    if (current != null) {
      try {
        askForLosses(current);
      } catch (IOException e) {
        // the thread finds the connection broken and asks on the next one
        current.node().close();
      }
    }
  }

  void remove(LockWatch watch) {
    locks.forget(watch);
  }

  void remove(WatchedLocks lease) {
    locks.forget(lease);
  }

  /** Sends a heartbeat for one member and waits for its acknowledgment, at most this long. */
  void renewNow(Renewal renewal, Duration longest) {
    long before = environment.nanos();
    beatNow(List.of(renewal));
    renewal.awaitNews(before, longest);
  }

  /** Cancels an operation, as soon as there is a connection; does not wait. */
  void cancel(Request.Cancel cancel) {
    if (cancellations.size() < MAX_PENDING) {
      cancellations.add(cancel);
    }
    Line current = line;
    if (current != null) {
      try {
        sendCancellations(current);
      } catch (IOException e) {
        // the thread finds the connection broken, makes another, and sends what is left
        current.node().close();
      }
    }
  }

  @Override
  public void close() {
    closed = true;
    Line current = line;
    if (current != null) {
      current.node().close();
    }
    if (Thread.currentThread() != thread) {
      // wakes a pause between two searches; an interrupt ends nothing else
      thread.interrupt();
    }
  }

  /** Ends with {@link #close} alone: without this thread, every lease of the process expires. */
  private void run() {
    while (!closed) {
      try {
        serveOneLeader();
      } catch (Throwable e) {
        // only to say what has failed can fail here, for want of memory for example
        line = null;
      }
      pause();
    }
  }

  private void serveOneLeader() {
    try (NodeConnection found = findLeader()) {
      Line current = new Line(found, new ConcurrentHashMap<>(), new ConcurrentHashMap<>());
      line = current;
      serveUntilItFails(current);
    } catch (TransportException e) {
      LOG.log(Level.DEBUG, () -> thread.getName() + ": " + e.getMessage());
      if (e.failure().sqlState().equals(SqlState.LOGIN_REFUSED.state())) {
        // each attempt counts against the user, whose other processes may know the password
        LOG.log(Level.WARNING, thread.getName() + ": no heartbeats: " + e.getMessage());
        pauseMillis = PAUSE_AFTER_LOGIN_MILLIS;
      }
    } catch (NodeFinder.UnreachableException e) {
      LOG.log(Level.DEBUG, () -> thread.getName() + ": " + e.getMessage());
      if (e.isReplaced()) {
        loseLeases(e);
      }
    } catch (IOException e) {
      LOG.log(Level.DEBUG, () -> thread.getName() + ": " + e.getMessage());
    } catch (RuntimeException | Error e) {
      LOG.log(Level.ERROR, thread.getName() + ": no heartbeats until the next connection", e);
    } finally {
      line = null;
    }
  }

  private NodeConnection findLeader() throws IOException, TransportException {
    Budget budget = new Budget(environment, SEARCH, Duration.ZERO, () -> closed);
    Duration patience = environment.timing().deadAfter();
    return finder
        .find(true, node -> node.ask(NOTHING_TO_RENEW, budget.within(patience)), budget)
        .node();
  }

  private void pause() {
    try {
      if (!closed) {
        Thread.sleep(pauseMillis);
        pauseMillis = Math.min(pauseMillis * 2, LONGEST_PAUSE_MILLIS);
      }
    } catch (InterruptedException e) {
      // by close(), which has said so before, or by foreign code, which may end no heartbeats
    }
  }

  private void serveUntilItFails(Line current) throws IOException {
    finder.news().watch(current.node());
    try {
      serve(current);
    } catch (LeaderMovedException e) {
      throw e;
    } catch (IOException e) {
      finder.map().doubt(current.node().address());
      throw e;
    } finally {
      finder.news().forget(current.node());
    }
  }

  private void serve(Line current) throws IOException {
    locks.begin(current.node());
    long dueNanos = environment.nanos();
    while (!closed) {
      dropUnreachableMembers();
      sendCancellations(current);
      long now = environment.nanos();
      Duration interval = shortestInterval();
      if (dueNanos - now <= 0) {
        beat(current, reachableMembers());
        askForHolders(current);
        askForLosses(current);
        dueNanos = now + withJitter(interval);
      }
      // a member with a shorter ttl may have come since the last heartbeat
      dueNanos = Math.min(dueNanos - now, interval.toNanos()) + now;
      watch.closeStuck(now, environment.timing().deadAfter());
      moves.due(now).ifPresent(line -> LOG.log(Level.DEBUG, thread.getName() + ": " + line));
      Duration untilDue = Duration.ofNanos(dueNanos - now);
      Duration tick = environment.timing().tick();
      var arrival = current.node().receive(untilDue.compareTo(tick) < 0 ? untilDue : tick);
      if (arrival.isPresent()) {
        handle(arrival.get(), current);
      }
    }
  }

  private void handle(NodeConnection.Arrival arrival, Line current) throws IOException {
    if (arrival.reply() instanceof Reply.HeartbeatAck ack) {
      Beat beat = current.pending().remove(arrival.requestId());
      if (beat != null) {
        pauseMillis = FIRST_PAUSE_MILLIS;
        acknowledge(beat, ack);
      }
    } else if (arrival.reply() instanceof Reply.Holder holder) {
      HolderWatch watch = current.asked().remove(arrival.requestId());
      if (watch != null) {
        watch.answered(holder);
        askFor(watch, current);
      }
    } else if (arrival.reply() instanceof Reply.Lost lost) {
      loseAmong(reachableMembers(), lost.sessions(), lost.leases());
      // the heartbeats of a lease with a fixed term have ended, and its locks are watched
      locks.leasesLost(lost.leases());
    } else if (arrival.reply() instanceof Reply.LocksLost lost) {
      locks.lost(arrival.requestId(), lost);
      askForLosses(current);
    } else if (arrival.reply() instanceof Reply.ClusterChanged changed) {
      finder.map().learn(changed.cluster(), current.node().address());
    } else if (arrival.reply() instanceof Reply.NotLeader elsewhere) {
      finder.map().learn(elsewhere.cluster(), current.node().address());
      throw new LeaderMovedException();
    } else if (arrival.reply() instanceof Reply.Failure failure) {
      current.pending().remove(arrival.requestId());
      current.asked().remove(arrival.requestId());
      locks.failed(arrival.requestId());
      LOG.log(Level.WARNING, thread.getName() + ": " + failure.message());
    }
  }

  private static void acknowledge(Beat beat, Reply.HeartbeatAck ack) {
    loseAmong(beat.members(), ack.lostSessions(), ack.lostLeases());
    for (Renewal renewal : beat.members()) {
      renewal.renewed(beat.sentNanos());
    }
  }

  private static void loseAmong(List<Renewal> renewals, List<Long> sessions, List<Long> leases) {
    Set<Long> lostSessions = Set.copyOf(sessions);
    Set<Long> lostLeases = Set.copyOf(leases);
    for (Renewal renewal : renewals) {
      Set<Long> lost = renewal.kind() == Renewal.Kind.SESSION ? lostSessions : lostLeases;
      if (lost.contains(renewal.id())) {
        renewal.lose();
      }
    }
  }

  /**
   * Another cluster has replaced the one of the leases, and may grant their locks to others at any
   * moment: it does not know of leases that were made after its backup.
   */
  private void loseLeases(NodeFinder.UnreachableException replaced) {
    List<Renewal> leases =
        reachableMembers().stream().filter(each -> each.kind() == Renewal.Kind.LEASE).toList();
    if (!leases.isEmpty()) {
      LOG.log(
          Level.WARNING,
          thread.getName() + ": " + leases.size() + " leases are lost: " + replaced.getMessage());
    }
    leases.forEach(Renewal::lose);
    locks.allLost();
  }

  private void beatNow(List<Renewal> renewals) {
    Line current = line;
    if (current != null) {
      try {
        beat(current, renewals);
      } catch (IOException e) {
        // the thread finds the connection broken and sends all heartbeats on the next one
        current.node().close();
      }
    }
  }

  private void beat(Line current, List<Renewal> renewals) throws IOException {
    for (int from = 0; from < renewals.size(); from += HEARTBEAT_IDS) {
      List<Renewal> part = renewals.subList(from, Math.min(renewals.size(), from + HEARTBEAT_IDS));
      if (current.pending().size() >= MAX_PENDING) {
        current.pending().clear();
      }
      long requestId = current.node().newRequestId();
      current.pending().put(requestId, new Beat(environment.nanos(), part));
      current
          .node()
          .send(
              requestId,
              new Request.Heartbeat(ids(part, Renewal.Kind.SESSION), ids(part, Renewal.Kind.LEASE)),
              0);
    }
  }

  /** Those for which no request is under way, because they are new or the last one failed. */
  private void askForHolders(Line current) throws IOException {
    for (HolderWatch watch : watches) {
      askFor(watch, current);
    }
  }

  private void askFor(HolderWatch watch, Line current) throws IOException {
    if (current.node().version() < Protocol.HOLDER_VERSION) {
      return;
    }
    long requestId;
    synchronized (watch) {
      if (!watches.contains(watch) || current.asked().containsValue(watch)) {
        return;
      }
      requestId = current.node().newRequestId();
      current.asked().put(requestId, watch);
    }
    current.node().send(requestId, watch.request(), 0);
  }

  private void askForLosses(Line current) throws IOException {
    long requestId = current.node().newRequestId();
    Request.WatchLocks request = locks.next(current.node(), requestId);
    if (request != null) {
      current.node().send(requestId, request, 0);
    }
  }

  private static List<Long> ids(List<Renewal> renewals, Renewal.Kind kind) {
    return renewals.stream().filter(r -> r.kind() == kind).map(Renewal::id).toList();
  }

  private void sendCancellations(Line current) throws IOException {
    Request.Cancel cancel;
    while ((cancel = cancellations.poll()) != null) {
      current.node().send(current.node().newRequestId(), cancel, 0);
    }
  }

  private List<Renewal> reachableMembers() {
    List<Renewal> reachable = new ArrayList<>();
    for (Member member : members) {
      Renewal renewal = member.renewal().get();
      if (renewal != null && renewal.isRenewed()) {
        reachable.add(renewal);
      }
    }
    return reachable;
  }

  private void dropUnreachableMembers() {
    locks.forgetUnreachable();
    for (Member member : List.copyOf(members)) {
      if (member.renewal().refersTo(null) && members.remove(member)) {
        LOG.log(
            Level.WARNING,
            thread.getName()
                + (member.kind() == Renewal.Kind.SESSION
                    ? ": a connection was dropped without close(); the cluster ends its session"
                    : ": a lease was dropped without close(); the cluster ends it")
                + " when its time is over");
        onDropped.run();
      }
    }
  }

  private Duration shortestInterval() {
    Duration shortest = environment.timing().longestInterval();
    for (Renewal renewal : reachableMembers()) {
      if (renewal.interval().compareTo(shortest) < 0) {
        shortest = renewal.interval();
      }
    }
    return shortest;
  }

  /** Takes off up to a fifth, so that many processes do not send their heartbeats in step. */
  private static long withJitter(Duration interval) {
    return (long) (interval.toNanos() * ThreadLocalRandom.current().nextDouble(0.8, 1.0));
  }

  /** The node is healthy, but is not the leader. */
  private static final class LeaderMovedException extends IOException {
    private static final long serialVersionUID = 1L;

    LeaderMovedException() {
      super("the leader moved");
    }
  }
}
