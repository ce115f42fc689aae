package dev.tollgate.node.replica;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.Capacity;
import dev.tollgate.core.ClusterState;
import dev.tollgate.core.ReplicaCheck;
import dev.tollgate.core.StateMachine;
import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Computing;
import dev.tollgate.core.command.Environment;
import dev.tollgate.core.command.LogPosition;
import dev.tollgate.core.command.Notice;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.log.LogConsumer;
import dev.tollgate.log.LogFailedException;
import dev.tollgate.log.RemovedException;
import dev.tollgate.log.SkipList;
import dev.tollgate.log.StrangerException;
import dev.tollgate.log.SupervisedFailure;
import dev.tollgate.log.entry.Callbacks;
import dev.tollgate.log.entry.Entry;
import dev.tollgate.log.entry.UnknownCommandException;
import dev.tollgate.snapshot.SnapshotReader;
import dev.tollgate.snapshot.StateCopy;
import dev.tollgate.snapshot.UnknownVersionException;
import dev.tollgate.store.LocalEnvironment;
import dev.tollgate.store.SqlDatabase;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The replicated state of this node. Applies entries, lets others read the state between two
 * entries, and tells them what happened while this node leads.
 */
public final class Replica implements LogConsumer {
  private static final Logger LOG = LoggerFactory.getLogger(Replica.class);

  /** How often a query that waits for an entry checks whether the query has to end. */
  private static final long LOOK_MILLIS = 20;

  /** Is told what happens here, by the apply thread, in log order. Must not block. */
  public interface Listener {
    /** This node leads from now on; the state is what the earlier leaders left. */
    void startedLeading(ClusterState state);

    /** This node no longer leads; may come from another thread. */
    void stoppedLeading();

    /** An entry brought this about; called only while this node leads. */
    void noticed(Notice notice);

    /**
     * Statements are paused, so a snapshot of this state is valid in any environment; on every
     * node.
     */
    default void environmentChanges() {}

    /** Whether a snapshot waits for a moment without transactions; on every node. */
    default void snapshotNeedsGap(boolean needed) {}

    /** The replica has stopped for good. */
    void failed(Throwable cause);
  }

  private final String nodeId;
  private final SqlDatabase database;
  private final Supplier<Environment> environment;
  private final GuardedStore store;
  private final Capacity capacity;
  private StateMachine machine;
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
  private final Facts facts = new Facts();
  private final Queue<Consumer<ClusterState>> questions = new ConcurrentLinkedQueue<>();

  /** True on a thread that must not wait. */
  private final ThreadLocal<Boolean> prompt = ThreadLocal.withInitial(() -> false);

  private final List<Listener> listeners = new ArrayList<>();
  private volatile boolean leading;
  private volatile @Nullable Throwable failure;
  private volatile long checkedNanos = System.nanoTime();
  private volatile ClusterIdentity identity = ClusterIdentity.NONE;
  private @Nullable ReplicaVerifier verifier;
  private final SkipList skips;

  /** Creates a replica that computes in the environment of this process. */
  public Replica(String nodeId, SqlDatabase database) {
    this(nodeId, database, LocalEnvironment::get, SkipList.NONE, Capacity.STANDARD);
  }

  /**
   * @param environment the environment in which this replica computes; always the same
   * @param skips the commands that it does not carry out
   * @param capacity how much its state may hold; the same on all nodes
   */
  public Replica(
      String nodeId,
      SqlDatabase database,
      Supplier<Environment> environment,
      SkipList skips,
      Capacity capacity) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.database = requireNonNull(database, "database");
    this.environment = requireNonNull(environment, "environment");
    this.skips = requireNonNull(skips, "skips");
    this.store = new GuardedStore(database, environment, this::computing);
    this.capacity = requireNonNull(capacity, "capacity");
    this.machine = new StateMachine(store, capacity);
  }

  /** True if statements were applied that are in no snapshot of this node. */
  public boolean hasUncopiedStatements() {
    return store.isUsed();
  }

  /** The environment in which this replica computes statements. */
  public Environment environment() {
    return environment.get();
  }

  private Computing computing() {
    return machine.state().computing();
  }

  /**
   * Returns why this node must not lead, because it would compute statements differently from its
   * cluster; else null.
   */
  public @Nullable EnvironmentDiffersException difference(ClusterState state) {
    Environment stated = state.computing().environment();
    return stated == null || environment.get().computesLike(stated)
        ? null
        : new EnvironmentDiffersException(environment.get(), stated);
  }

  /** Adds a listener; call before the log starts. */
  public void addListener(Listener listener) {
    listeners.add(listener);
  }

  /**
   * Makes this replica answer comparisons with the others; call before the log starts.
   *
   * @param reports sends a command to the leader
   */
  public void reportTo(Consumer<Command> reports) {
    verifier = new ReplicaVerifier(nodeId, reports, new VerifiedState());
  }

  /**
   * When the last comparison of the replicas began here, or else this replica; in {@link
   * System#nanoTime}.
   */
  public long checkedNanos() {
    return checkedNanos;
  }

  /** True while this node leads, as far as it knows; a barrier proves it. */
  public boolean isLeading() {
    return leading;
  }

  /** Why the replica stopped, or null while it runs. */
  public @Nullable Throwable failure() {
    return failure;
  }

  /** What can be read of the state at any time, without waiting. */
  public Facts facts() {
    return facts;
  }

  /**
   * Runs work that must not wait, because other clients wait for the thread. Examples are a frame
   * on an event loop, and what follows a proof of leadership. During that work, {@link #look}
   * fails.
   */
  public void promptly(Runnable work) {
    boolean before = prompt.get();
    prompt.set(true);
    try {
      work.run();
    } finally {
      prompt.set(before);
    }
  }

  private void requireTime() {
    if (prompt.get()) {
      throw new IllegalStateException(
          "this thread must not wait for the entry that is being applied: use facts() or ask()");
    }
  }

  /**
   * Reads the state between two entries. Waits for the end of the entry that is being applied, so
   * it must not run on a thread for which others wait.
   *
   * @param question must copy what it wants to keep, and must not take long: nothing is applied
   *     meanwhile
   */
  public <T extends @Nullable Object> T look(Function<ClusterState, T> question) {
    requireTime();
    lock.readLock().lock();
    try {
      return question.apply(machine.state());
    } finally {
      lock.readLock().unlock();
    }
  }

  /**
   * Reads the state like {@link #look}, for a query: the entry that is being applied may be waiting
   * for the end of that very query.
   *
   * @param ended whether the query has to end
   * @throws CancellationException once the query has to end
   */
  <T extends @Nullable Object> T look(Function<ClusterState, T> question, BooleanSupplier ended) {
    requireTime();
    lockUntil(lock.readLock(), ended);
    try {
      return question.apply(machine.state());
    } finally {
      lock.readLock().unlock();
    }
  }

  private static void lockUntil(Lock wanted, BooleanSupplier ended) {
    boolean interrupted = false;
    try {
      boolean locked = false;
      while (!locked) {
        try {
          locked = wanted.tryLock(LOOK_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
        }
        if (!locked && ended.getAsBoolean()) {
          throw new CancellationException("the query was to end before it could look at the locks");
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Answers a question between two entries: at once, on this thread, or after the entry that is
   * being applied, on its thread. Never waits.
   *
   * @param question as in {@link #look}; neither it nor what it does with the answer may wait
   */
  public void ask(Consumer<ClusterState> question) {
    questions.add(question);
    answerQuestions();
  }

  /**
   * Answers the questions, unless an entry is being applied: then that thread does so afterwards.
   */
  private void answerQuestions() {
    while (!questions.isEmpty() && lock.readLock().tryLock()) {
      try {
        Consumer<ClusterState> question = questions.poll();
        if (question != null) {
          question.accept(machine.state());
        }
      } catch (RuntimeException e) {
        LOG.error("{}: a question about the state failed", nodeId, e);
      } finally {
        lock.readLock().unlock();
      }
    }
  }

  /**
   * Reads the state between two entries like {@link #look}, while no other thread does.
   *
   * @param ended whether the query that reads has to end
   * @throws CancellationException once the query has to end
   */
  public <T> T lookAlone(Function<ClusterState, T> question, BooleanSupplier ended) {
    requireTime();
    lockUntil(lock.writeLock(), ended);
    try {
      return question.apply(machine.state());
    } finally {
      lock.writeLock().unlock();
      answerQuestions();
    }
  }

  @Override
  public void apply(long logIndex, Entry entry) {
    requireSound();
    List<StateMachine.Applied> results = new ArrayList<>(entry.commands().size());
    lock.writeLock().lock();
    try {
      for (Command command : entry.commands()) {
        LogPosition position = new LogPosition(logIndex, results.size(), entry.stampMicros());
        StateMachine.Applied applied = apply(position, command);
        applied.notices().forEach(notice -> facts.noticed(notice, machine.state()));
        results.add(applied);
        verify(logIndex, command, applied.outcome());
        if (command instanceof Command.PauseStatements) {
          tell(Listener::environmentChanges);
        }
      }
      learn(machine.state().identity());
    } finally {
      lock.writeLock().unlock();
      answerQuestions();
    }
    boolean proposedHere = !entry.proposals().isEmpty();
    for (int i = 0; i < results.size(); i++) {
      // notices first: a client that has its reply may at once renew what it has just got
      if (leading) {
        for (Notice notice : results.get(i).notices()) {
          tell(listener -> listener.noticed(notice));
        }
      }
      if (proposedHere) {
        entry.proposals().get(i).applied(results.get(i).outcome());
      }
    }
  }

  private StateMachine.Applied apply(LogPosition position, Command command) {
    long logIndex = position.logIndex();
    try {
      if (skips.contains(logIndex, position.ordinal())) {
        LOG.warn("{}: skips command {} of log entry {}", nodeId, position.ordinal(), logIndex);
        return machine.skip(position, command);
      }
      return machine.apply(position, command);
    } catch (EnvironmentDiffersException e) {
      // nothing is wrong with the command
      throw e;
    } catch (RuntimeException | StackOverflowError e) {
      throw new CommandFailedException(logIndex, position.ordinal(), e);
    }
  }

  /**
   * Tells all listeners. Whatever one of them throws, the log is applied and the others are told.
   */
  private void tell(Consumer<Listener> message) {
    for (Listener listener : listeners) {
      Callbacks.tell("the replica", () -> message.accept(listener));
    }
  }

  private void requireSound() {
    Throwable cause = failure;
    if (cause != null) {
      throw new IllegalStateException("the replica has stopped", cause);
    }
  }

  /** Passes the verifier each command that concerns it, right after that command. */
  private void verify(long logIndex, Command command, Outcome outcome) {
    ReplicaVerifier verifying = verifier;
    ReplicaCheck check = machine.state().lastCheck();
    if (verifying == null || check == null || !outcome.equals(new Outcome.Answered(true))) {
      return;
    }
    if (command instanceof Command.VerifyReplicas) {
      checkedNanos = System.nanoTime();
      verifying.begin(
          logIndex,
          insistent ->
              new ReplicaDigest(machine.copyWithoutTransactions(), database.copy(insistent)));
    } else if (command instanceof Command.ReportChecksum) {
      verifying.reported(check);
    }
  }

  /** Stops answering comparisons. */
  public void close() {
    ReplicaVerifier verifying = verifier;
    if (verifying != null) {
      verifying.close();
    }
  }

  private final class VerifiedState implements ReplicaVerifier.Owner {
    @Override
    public @Nullable ReplicaCheck lastCheck() {
      return look(
          state -> {
            ReplicaCheck check = state.lastCheck();
            return check == null ? null : check.copy();
          });
    }

    @Override
    public void failed(Throwable cause) {
      Replica.this.failed(cause);
    }
  }

  @Override
  public ClusterIdentity identity() {
    return identity;
  }

  /**
   * Keeps the identity, and logs the cluster id, by which operators tell clusters apart. It is
   * known once the cluster is first led, or once the state is read from disk.
   */
  private void learn(ClusterIdentity state) {
    if (identity.clusterId() == null && state.clusterId() != null) {
      LOG.info("{}: belongs to cluster {}", nodeId, state.clusterId());
    }
    identity = state;
  }

  @Override
  public @Nullable StateCopy beginCopy(boolean insistent) {
    if (!machine.isCopyable()) {
      return null;
    }
    StateCopy copy = new ReplicaCopy(machine.copy(), database.copy(insistent));
    store.copied();
    return copy;
  }

  @Override
  public void snapshotNeedsGap(boolean needed) {
    tell(listener -> listener.snapshotNeedsGap(needed));
  }

  @Override
  public void restore(SnapshotReader snapshot) throws IOException {
    lock.writeLock().lock();
    try {
      StateMachine fresh = new StateMachine(store, capacity);
      ReplicaCopy.read(snapshot, fresh, database);
      fresh.checkInvariants();
      machine = fresh;
      store.copied();
      facts.restored(fresh.state());
      learn(fresh.state().identity());
    } finally {
      lock.writeLock().unlock();
      answerQuestions();
    }
    ReplicaVerifier verifying = verifier;
    ReplicaCheck check = machine.state().lastCheck();
    if (verifying != null && check != null) {
      verifying.askAgainIfInDoubt(check);
    }
  }

  @Override
  public void startedLeading(long term) {
    LOG.info("{}: leads in term {}", nodeId, term);
    leading = true;
    look(
        state -> {
          listeners.forEach(listener -> listener.startedLeading(state));
          return null;
        });
    if (failure != null) {
      // the replica failed meanwhile, and nothing else would revoke that leadership
      stoppedLeading();
    }
  }

  @Override
  public void stoppedLeading() {
    if (leading) {
      LOG.info("{}: does not lead any more", nodeId);
    }
    leading = false;
    tell(Listener::stoppedLeading);
  }

  @Override
  public void failed(Throwable cause) {
    synchronized (listeners) {
      if (failure != null) {
        return;
      }
      failure = cause;
    }
    if (cause instanceof RemovedException) {
      LOG.info("{}: {}", nodeId, cause.getMessage());
    } else {
      LOG.error("{}: stops serving, the others go on: {}", nodeId, explain(cause), cause);
    }
    leading = false;
    for (Listener listener : listeners) {
      try {
        listener.failed(cause);
      } catch (RuntimeException | Error bug) {
        LOG.error("{}: a part of it did not stop", nodeId, bug);
      }
    }
  }

  /**
   * Stops the replica if an error says that this process cannot load its own classes, because it
   * lacks file descriptors or its jars are gone. The JVM remembers that failure for each class.
   * Every path that serves passes its unexpected errors here.
   *
   * @return true if it did
   */
  public boolean stopIfClassesAreLost(Throwable error) {
    boolean lost = areClassesLost(error);
    if (lost) {
      failed(error);
    }
    return lost;
  }

  private static boolean areClassesLost(Throwable error) {
    for (Throwable cause = error; cause != null; cause = cause.getCause()) {
      if (cause instanceof LinkageError) {
        return true;
      }
    }
    return false;
  }

  /** Says in one line what happened and what to do. */
  private static String explain(Throwable cause) {
    if (cause instanceof DivergedException
        || cause instanceof CommandFailedException
        || cause instanceof LogFailedException
        || cause instanceof EnvironmentDiffersException
        || cause instanceof SupervisedFailure
        || cause instanceof StrangerException
        || cause instanceof UnknownCommandException
        || cause instanceof UnknownVersionException) {
      return String.valueOf(cause.getMessage());
    }
    if (areClassesLost(cause)) {
      return "it cannot load its own classes ("
          + cause
          + "): it had too few file descriptors (ulimit -n), or its jars were replaced. Start it"
          + " again";
    }
    if (cause instanceof OutOfMemoryError) {
      return "memory has run out (" + cause.getMessage() + "). Start it again with a larger heap";
    }
    return "its state can no longer be trusted, because of "
        + cause
        + ". Start it again, and it begins with its last snapshot; if it stops again, report this"
        + " and have it begin anew with the data of the leader: tollgate reseed";
  }
}
