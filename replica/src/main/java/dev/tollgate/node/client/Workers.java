package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.UserName;
import dev.tollgate.log.ApplyThread;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The threads of a node for work that an event loop has no time for. Each kind of work has its own
 * threads, so that locks and leases never wait for queries. The work that waits for them is
 * bounded, and no user can have all threads of a kind that clients use at will ({@link FairTurns}).
 * Thread-safe.
 */
public final class Workers implements AutoCloseable {
  /** Kinds of work by what they may wait for. */
  public enum Kind {
    /** Planning short statements: computes, and waits for nothing. */
    PLANS("statements wait to be planned", 4),
    /**
     * Planning long statements, one at a time. The tree of a statement may take some 40 MiB, and
     * collections that find several of them last longer than an election.
     */
    LONG_PLANS("long statements wait to be planned", 1),
    /** Trying what writes read, before the writes enter the log. */
    REHEARSALS("statements wait until the leader has tried them", 4),
    /** The same for long writes, one at a time, because their reads are planned too. */
    LONG_REHEARSALS("long statements wait until the leader has tried them", 1),
    /** Computing the arguments of lock and lease calls, which may wait for a definition. */
    CALLS("lock and lease calls wait until their arguments are computed", 8),
    /** Making verifiers of new passwords, which takes a tenth of a second each. */
    PASSWORDS("passwords wait until their verifiers are computed", 2),
    /** Queries, fetches and descriptions; planning statements that are not short. */
    QUERIES("queries wait for a thread", 16),
    /** Finding out which locks leases hold, some at a time: waits for entries to be applied. */
    WATCHES("requests that watch locks wait for a thread", 2),
    /** Snapshots, and the procedures of administrators. */
    FILES("parts of snapshots and procedures wait for a thread", 4),
    /**
     * Work that has to be done and is never refused. There is at most one of each for a connection,
     * a heartbeat, or a transaction that was held back, which are bounded themselves.
     */
    CHORES("chores wait for a thread", 2);

    private final String what;
    private final int threads;

    Kind(String what, int threads) {
      this.what = what;
      this.threads = threads;
    }

    /** Where statements with so many characters are planned. */
    static Kind ofPlans(long chars) {
      return chars <= ClientLimits.SHORT_STATEMENT_CHARS
          ? PLANS
          : chars <= Limits.LONG_STATEMENT_CHARS ? QUERIES : LONG_PLANS;
    }

    /** How much of this work is done at a time. */
    int threads() {
      return threads;
    }

    /** True if users share the threads here; others have turns of their own, or are bounded. */
    private boolean isShared() {
      return switch (this) {
        case PLANS, LONG_PLANS, CALLS, PASSWORDS, QUERIES, WATCHES, FILES -> true;
        case REHEARSALS, LONG_REHEARSALS, CHORES -> false;
      };
    }

    /** Says of a number that so much of this work waits. */
    String what() {
      return what;
    }

    private int queue(ClientLimits limits) {
      return switch (this) {
        case PLANS, LONG_PLANS -> limits.queuedPlans();
        case REHEARSALS, LONG_REHEARSALS -> limits.queuedRehearsals();
        case CALLS, PASSWORDS -> limits.queuedCalls();
        case QUERIES -> limits.queuedQueries();
        case WATCHES -> Limits.QUEUED_LOCK_WATCHES;
        case FILES -> limits.queuedFiles();
        case CHORES -> Integer.MAX_VALUE;
      };
    }
  }

  private final String nodeId;
  private final ClientLimits limits;
  private final Map<Kind, Executor> executors = new EnumMap<>(Kind.class);
  private final Map<Kind, FairTurns<UserName>> shared = new EnumMap<>(Kind.class);

  public Workers(String nodeId, ClientLimits limits) {
    this(nodeId, limits, null);
  }

  private Workers(String nodeId, ClientLimits limits, @Nullable Executor forAll) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.limits = requireNonNull(limits, "limits");
    for (Kind kind : Kind.values()) {
      Executor executor = forAll == null ? pool(kind) : forAll;
      executors.put(kind, executor);
      if (kind.isShared()) {
        shared.put(kind, FairTurns.ofUsers(executor, kind.threads, kind.queue(limits)));
      }
    }
  }

  /**
   * Runs work on one executor, which decides the order: for simulations. Rehearsals, which change
   * nothing, are done at once.
   */
  public static Workers on(Executor executor) {
    Workers simulated = new Workers("simulated", ClientLimits.STANDARD, executor);
    simulated.executors.put(Kind.REHEARSALS, Runnable::run);
    simulated.executors.put(Kind.LONG_REHEARSALS, Runnable::run);
    return simulated;
  }

  private ThreadPoolExecutor pool(Kind kind) {
    String name = "tollgate-" + nodeId + "-" + kind.name().toLowerCase(Locale.ROOT);
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            kind.threads,
            kind.threads,
            30,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(kind.queue(limits)),
            kind == Kind.REHEARSALS || kind == Kind.LONG_REHEARSALS
                ? work -> ApplyThread.deep(null, work, name, Limits.REHEARSAL_STACK_BYTES)
                : new DefaultThreadFactory(name, /* daemon= */ true));
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  /**
   * Runs work on another thread.
   *
   * @param user whose share of the threads the work takes
   * @param refused is told at once why that is not possible; then nothing is done
   */
  void run(Kind kind, UserName user, Runnable work, Consumer<String> refused) {
    Executor executor = requireNonNull(executors.get(kind));
    FairTurns<UserName> turns = shared.get(kind);
    try {
      if (turns == null) {
        executor.execute(work);
      } else if (!turns.run(user, work)) {
        refused.accept(full(kind, ", or half as many of user " + user));
      }
    } catch (RejectedExecutionException e) {
      boolean stops = executor instanceof ThreadPoolExecutor pool && pool.isShutdown();
      refused.accept(stops ? "node " + nodeId + " stops" : full(kind, ""));
    }
  }

  private String full(Kind kind, String orOfUser) {
    return "at node "
        + nodeId
        + " "
        + kind.queue(limits)
        + " "
        + kind.what
        + ", as many as may"
        + orOfUser
        + ": nothing was done; try again later";
  }

  /** Takes out work that waits for a thread; false if there is none, because it has begun. */
  boolean withdraw(Kind kind, Runnable work) {
    FairTurns<UserName> turns = shared.get(kind);
    return turns == null
        ? executors.get(kind) instanceof ThreadPoolExecutor pool && pool.remove(work)
        : turns.withdraw(work);
  }

  /** How much work of this kind waits for a thread. */
  int queued(Kind kind) {
    FairTurns<UserName> turns = shared.get(kind);
    return turns != null
        ? turns.waiting()
        : executors.get(kind) instanceof ThreadPoolExecutor pool ? pool.getQueue().size() : 0;
  }

  /** Runs work that cannot be refused, unless the node stops. */
  public void chore(Runnable work) {
    run(Kind.CHORES, UserName.ANONYMOUS, work, refused -> {});
  }

  @Override
  public void close() {
    for (Executor executor : executors.values()) {
      if (executor instanceof ThreadPoolExecutor pool) {
        pool.shutdownNow();
      }
    }
  }
}
