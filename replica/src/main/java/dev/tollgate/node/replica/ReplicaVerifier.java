package dev.tollgate.node.replica;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.ReplicaCheck;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.StateChecksum;
import dev.tollgate.log.Supervision;
import dev.tollgate.log.entry.LoggedError;
import java.io.InterruptedIOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This node's part in the comparison of the replicas. It computes a checksum of its own state on a
 * separate thread, reports it, and finds out whether the majority has another.
 *
 * <p>What counts is what this process has computed itself, also while it applies the log again
 * after a start. So a node whose data were wrong and are still wrong stops again. A node that was
 * re-seeded, or whose memory alone was damaged, does not stop. Thread-safe.
 */
final class ReplicaVerifier {
  private static final Logger LOG = LoggerFactory.getLogger(ReplicaVerifier.class);

  /** Checks whose checksum is remembered; only the last can still be compared. */
  private static final int REMEMBERED = 4;

  /**
   * After this many copies that definitions have cancelled, the next copy makes definitions wait.
   */
  private static final int PATIENCE = 3;

  private final String nodeId;
  private final Consumer<Command> reports;
  private final Owner owner;
  private final ThreadPoolExecutor worker;
  private final ReentrantLock mutex = new ReentrantLock();
  private final Map<Long, StateChecksum> computed = new LinkedHashMap<>();
  private final AtomicInteger cancelled = new AtomicInteger();

  /** The copy of the last check alone, which waits while another copy is summed up. */
  private final AtomicReference<@Nullable Pending> pending = new AtomicReference<>();

  private volatile boolean inDoubt;

  private record Pending(long logIndex, ReplicaDigest digest, long heldNanos) {}

  /** The owner of the compared state. */
  interface Owner {
    /**
     * The last check as the replica knows it, or null. Does not wait for an entry that is applied:
     * the entry may wait for the copy of a later check, which waits for this very thread.
     */
    @Nullable ReplicaCheck lastCheck();

    /** Reports that the replica can no longer be trusted. */
    void failed(Throwable cause);
  }

  /**
   * @param reports sends a command to the leader
   */
  ReplicaVerifier(String nodeId, Consumer<Command> reports, Owner owner) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.reports = requireNonNull(reports, "reports");
    this.owner = requireNonNull(owner, "owner");
    worker =
        new ThreadPoolExecutor(
            1,
            1,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            new Supervision(nodeId, owner::failed).threads("tollgate-" + nodeId + "-verify"));
    worker.allowCoreThreadTimeOut(true);
  }

  /** Makes a copy of the state. */
  interface Copier {
    ReplicaDigest copy(boolean insistent);
  }

  /** Begins a check at this log index; called by the apply thread. */
  void begin(long logIndex, Copier copier) {
    Pending earlier = pending.getAndSet(null);
    if (earlier != null) {
      // the new check replaces this one
      earlier.digest.close();
      LOG.warn(
          "{}: does not answer the check at log index {}: one at {} has begun",
          nodeId,
          earlier.logIndex,
          logIndex);
    }
    long start = System.nanoTime();
    ReplicaDigest digest = copier.copy(/* insistent= */ cancelled.get() >= PATIENCE);
    pending.set(new Pending(logIndex, digest, System.nanoTime() - start));
    // a task that waits there takes what is pending then
    if (worker.getQueue().isEmpty()) {
      worker.execute(this::computePending);
    }
  }

  private void computePending() {
    Pending next = pending.getAndSet(null);
    if (next != null) {
      compute(next.logIndex, next.digest, next.heldNanos);
    }
  }

  private void compute(long logIndex, ReplicaDigest digest, long heldNanos) {
    long start = System.nanoTime();
    try {
      StateChecksum checksum;
      try (digest) {
        checksum = digest.compute();
      }
      cancelled.set(0);
      LOG.info(
          "{}: checksum at log index {} in {} ms, which held up the log for {} ms: {}",
          nodeId,
          logIndex,
          TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start),
          TimeUnit.NANOSECONDS.toMillis(heldNanos),
          checksum.total());
      remember(logIndex, checksum);
      ReplicaCheck check = owner.lastCheck();
      if (check != null && check.logIndex() == logIndex) {
        inDoubt = false;
        StateChecksum reported = check.reports().get(nodeId);
        if (reported == null || !reported.agreesWith(checksum)) {
          reports.accept(new Command.ReportChecksum(nodeId, logIndex, checksum));
        }
        requireMajority(check);
      }
    } catch (InterruptedIOException e) {
      cancelled.incrementAndGet();
      LOG.info(
          "{}: does not answer the check at log index {}: a definition came first",
          nodeId,
          logIndex);
      ReplicaCheck check = owner.lastCheck();
      if (inDoubt && check != null) {
        reports.accept(new Command.VerifyReplicas(check.nodes()));
      }
    } catch (DivergedException e) {
      owner.failed(e);
    } catch (RuntimeException e) {
      if (worker.isShutdown()) {
        return;
      }
      LOG.error(
          "{}: could not compute the checksum at log index {}",
          nodeId,
          logIndex,
          LoggedError.of(e));
    } catch (Error e) {
      owner.failed(e);
      throw e;
    }
  }

  private void remember(long logIndex, StateChecksum checksum) {
    mutex.lock();
    try {
      computed.put(logIndex, checksum);
      if (computed.size() > REMEMBERED) {
        computed.remove(computed.keySet().iterator().next());
      }
    } finally {
      mutex.unlock();
    }
  }

  /** This node's checksum for a check, or null. */
  private @Nullable StateChecksum own(long logIndex) {
    mutex.lock();
    try {
      return computed.get(logIndex);
    } finally {
      mutex.unlock();
    }
  }

  /**
   * Handles a report that was applied.
   *
   * @throws DivergedException if the majority has another state than this replica
   */
  void reported(ReplicaCheck check) {
    if (check.hasDifferences()) {
      LOG.error("{}: {}", nodeId, describe(check));
    }
    requireMajority(check);
    askAgainIfInDoubt(check);
  }

  /**
   * Requests another comparison if this node differed, and this process cannot say whether it still
   * does, because its state came from a later snapshot.
   */
  void askAgainIfInDoubt(ReplicaCheck check) {
    if (check.majority() != null
        && check.verdictOn(nodeId) == ReplicaCheck.Verdict.DIFFERS
        && own(check.logIndex()) == null) {
      LOG.warn(
          "{}: differed at log index {}; asks for another comparison", nodeId, check.logIndex());
      inDoubt = true;
      reports.accept(new Command.VerifyReplicas(check.nodes()));
    }
  }

  private void requireMajority(ReplicaCheck check) {
    StateChecksum majority = check.majority();
    StateChecksum own = own(check.logIndex());
    if (majority != null && own != null && !own.agreesWith(majority)) {
      throw new DivergedException(nodeId, check.logIndex(), own.differencesFrom(majority));
    }
  }

  private static String describe(ReplicaCheck check) {
    StringBuilder text = new StringBuilder("THE REPLICAS DIFFER at log index ");
    text.append(check.logIndex()).append(':');
    StateChecksum majority = check.majority();
    StateChecksum reference =
        majority == null ? check.reports().get(check.reports().firstKey()) : majority;
    for (Map.Entry<String, StateChecksum> report : check.reports().entrySet()) {
      text.append(' ').append(report.getKey()).append(" has ").append(report.getValue().total());
      if (reference != null && !report.getValue().agreesWith(reference)) {
        text.append(" (differs in ");
        text.append(DivergedException.list(report.getValue().differencesFrom(reference)));
        text.append(')');
      }
      text.append(';');
    }
    return majority == null
        ? text
            + " no majority of "
            + check.nodes()
            + " agrees, so nobody can say who is right and all go on. Look at what differs, keep"
            + " the node that is right and re-seed the others: tollgate reseed"
        : text + " those that differ from the majority stop";
  }

  void close() {
    worker.shutdownNow();
    Pending left = pending.getAndSet(null);
    if (left != null) {
      left.digest.close();
    }
  }
}
