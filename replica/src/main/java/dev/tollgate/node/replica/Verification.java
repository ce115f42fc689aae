package dev.tollgate.node.replica;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.ClusterState;
import dev.tollgate.core.ReplicaCheck;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Notice;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.log.CommandPipeline;
import dev.tollgate.log.LogStatus;
import dev.tollgate.log.NotLeadingException;
import dev.tollgate.log.ReplicatedLog;
import dev.tollgate.log.Supervision;
import dev.tollgate.log.entry.Proposal;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has the replicas compared while this node leads: from time to time, on request, and soon after a
 * statement that failed by a fault of the database. All nodes see the comparisons, so a new leader
 * knows when the last one was. Thread-safe.
 */
public final class Verification implements Replica.Listener, AutoCloseable {
  /** How long a requested comparison waits for nodes that do not answer. */
  static final Duration PATIENCE = Duration.ofSeconds(10);

  /** Within twice this time the other nodes have a digest of all that an idle leader has done. */
  private static final long DIGEST_MILLIS = 500;

  /** How many times in one interval this node checks whether a comparison is due. */
  private static final int LOOKS = 20;

  /** Least time from one comparison that a fault brings about to the next. */
  public static final Duration FAULT_INTERVAL = Duration.ofSeconds(10);

  /** How long a fault waits for the answers to the comparison before. */
  private static final Duration FAULT_PATIENCE = Duration.ofMinutes(1);

  private static final Logger LOG = LoggerFactory.getLogger(Verification.class);

  private final String nodeId;
  private final Replica replica;
  private final ReplicatedLog log;
  private final CommandPipeline pipeline;
  private final Supervision supervision;
  private final Duration interval;
  private final ScheduledExecutorService timer;
  private @Nullable Future<?> looking;
  private @Nullable Future<?> sending;

  /** True while a comparison is due because of a fault. */
  private final AtomicBoolean faulted = new AtomicBoolean();

  private volatile @Nullable Future<?> comparing;

  /** When the last comparison because of a fault was requested; used by the timer alone. */
  private long comparedNanos = System.nanoTime() - FAULT_INTERVAL.toNanos();

  /** Requests that wait for the answers of all nodes. */
  private final Queue<CompletableFuture<Void>> waiting = new ConcurrentLinkedQueue<>();

  /**
   * @param interval between two comparisons; zero to compare only on request
   */
  public Verification(
      String nodeId,
      Replica replica,
      ReplicatedLog log,
      CommandPipeline pipeline,
      Supervision supervision,
      Duration interval) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.replica = requireNonNull(replica, "replica");
    this.log = requireNonNull(log, "log");
    this.pipeline = requireNonNull(pipeline, "pipeline");
    this.supervision = requireNonNull(supervision, "supervision");
    this.interval = requireNonNull(interval, "interval");
    timer =
        Executors.newSingleThreadScheduledExecutor(
            supervision.threads("tollgate-" + nodeId + "-verify-timer"));
  }

  /** Starts the timer. */
  public synchronized void start() {
    sending =
        timer.scheduleWithFixedDelay(
            supervision.repeated("the digest of the replica", this::sendDigest),
            DIGEST_MILLIS,
            DIGEST_MILLIS,
            TimeUnit.MILLISECONDS);
    if (!interval.isZero()) {
      long millis = Math.max(1, interval.toMillis() / LOOKS);
      looking =
          timer.scheduleWithFixedDelay(
              supervision.repeated("the comparison of the replicas", this::proposeIfDue),
              millis,
              millis,
              TimeUnit.MILLISECONDS);
    }
  }

  private void sendDigest() {
    if (replica.isLeading() && !log.isAlone()) {
      pipeline.sendDigest();
    }
  }

  private void proposeIfDue() {
    if (replica.isLeading() && System.nanoTime() - replica.checkedNanos() >= interval.toNanos()) {
      pipeline.submit(command(), Proposal.Listener.NOBODY);
    }
  }

  /**
   * Every replica must have failed at the statement alike, and has undone it. A comparison shows
   * whether that is so. Faults while a comparison is due bring about one comparison together.
   */
  @Override
  public void statementFaulted() {
    if (faulted.compareAndSet(false, true)) {
      LOG.warn(
          "{}: a statement failed by a fault of the database, so the replicas are compared",
          nodeId);
      execute(this::compareAfterFault, 0);
    }
  }

  private void compareAfterFault() {
    long sinceNanos = System.nanoTime() - comparedNanos;
    boolean waits =
        sinceNanos < FAULT_INTERVAL.toNanos()
            || (sinceNanos < FAULT_PATIENCE.toNanos() && isUnderWay());
    if (waits && replica.isLeading()) {
      execute(this::compareAfterFault, FAULT_INTERVAL.toMillis() / LOOKS);
      return;
    }
    faulted.set(false);
    if (replica.isLeading()) {
      comparedNanos = System.nanoTime();
      pipeline.submit(command(), Proposal.Listener.NOBODY);
    }
  }

  private void execute(Runnable task, long delayMillis) {
    try {
      comparing =
          timer.schedule(
              supervision.repeated("the comparison after a fault", task),
              delayMillis,
              TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      LOG.debug("{}: closes, so the replicas are not compared", nodeId);
    }
  }

  private boolean isUnderWay() {
    return replica
        .state()
        .look(
            state -> {
              ReplicaCheck check = state.lastCheck();
              return check != null && !check.isComplete();
            });
  }

  private Command command() {
    List<String> nodes =
        log.status().members().stream().map(LogStatus.Member::nodeId).sorted().toList();
    if (nodes.isEmpty()) {
      throw new IllegalStateException("node " + nodeId + " knows no cluster");
    }
    return new Command.VerifyReplicas(nodes);
  }

  /**
   * Has the replicas compared now.
   *
   * @return completes when all nodes have answered, or when {@link #PATIENCE} is over;
   *     exceptionally with a {@link NotLeadingException} if this node does not lead
   */
  public CompletableFuture<Void> verify() {
    CompletableFuture<Void> done = new CompletableFuture<>();
    pipeline.submit(
        command(),
        new Proposal.Listener() {
          @Override
          public void applied(Outcome outcome) {
            done.completeOnTimeout(null, PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            waiting.add(done);
            if (isComplete()) {
              tellAll();
            }
          }

          @Override
          public void unknown() {
            done.completeExceptionally(new NotLeadingException());
          }
        });
    return done.whenComplete((nothing, failure) -> waiting.removeIf(CompletableFuture::isDone));
  }

  private boolean isComplete() {
    return replica
        .state()
        .look(
            state -> {
              ReplicaCheck check = state.lastCheck();
              return check != null && check.isComplete();
            });
  }

  private void tellAll() {
    for (CompletableFuture<Void> done = waiting.poll(); done != null; done = waiting.poll()) {
      done.complete(null);
    }
  }

  @Override
  public void noticed(Notice notice) {
    if (notice instanceof Notice.ReplicaReported && isComplete()) {
      tellAll();
    }
  }

  @Override
  public void startedLeading(ClusterState state) {}

  @Override
  public void stoppedLeading() {
    for (CompletableFuture<Void> done = waiting.poll(); done != null; done = waiting.poll()) {
      done.completeExceptionally(new NotLeadingException());
    }
  }

  @Override
  public void failed(Throwable cause) {
    stoppedLeading();
  }

  @Override
  public synchronized void close() {
    if (looking != null) {
      looking.cancel(/* mayInterruptIfRunning= */ false);
    }
    Future<?> fault = comparing;
    if (fault != null) {
      fault.cancel(/* mayInterruptIfRunning= */ false);
    }
    if (sending != null) {
      sending.cancel(/* mayInterruptIfRunning= */ false);
    }
    timer.shutdown();
  }
}
