package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.LogFigures;
import dev.tollgate.node.replica.ReplicaFigures;
import dev.tollgate.node.slow.ApplyWatch;
import dev.tollgate.tls.TlsCredentials;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Takes the figures of a node. The state can be read only between two entries, and one entry may
 * take seconds: then the figures of the state are those of before, and say how old they are. Never
 * more than one question waits for the apply thread. Thread-safe.
 */
final class FigureReader {
  /** How long a reader waits for the entry that is being applied. */
  static final Duration PATIENCE = Duration.ofSeconds(1);

  /** Figures of the state, and when they were taken. */
  private record Taken(ReplicaFigures figures, long nanos) {}

  private final NodeParts node;
  private final Readiness readiness;
  private final LeaderChanges leaders;
  private final Duration patience;
  private final LongSupplier nanoTime;
  private volatile @Nullable Taken last;
  private volatile LogFigures disk = LogFigures.NONE;
  private @Nullable CountDownLatch pending;

  FigureReader(
      NodeParts node,
      Readiness readiness,
      LeaderChanges leaders,
      Duration patience,
      LongSupplier nanoTime) {
    this.node = requireNonNull(node, "node");
    this.readiness = requireNonNull(readiness, "readiness");
    this.leaders = requireNonNull(leaders, "leaders");
    this.patience = requireNonNull(patience, "patience");
    this.nanoTime = requireNonNull(nanoTime, "nanoTime");
  }

  /**
   * Takes the figures; does I/O, and waits for a moment of the state within the patience.
   *
   * @return null if the state could not be read within that time, nor ever before
   */
  @Nullable Figures read() {
    Taken taken = takeState();
    if (taken == null) {
      return null;
    }
    LogFigures read = node.log().figures();
    if (!read.equals(LogFigures.NONE)) {
      disk = read;
    }
    return new Figures(
        nodeFigures(),
        node.log().status(),
        taken.figures(),
        Duration.ofNanos(Math.max(0, nanoTime.getAsLong() - taken.nanos())),
        node.pipeline().figures(),
        node.pipeline().clock().look(),
        disk,
        node.clients().figures(),
        node.connections().get());
  }

  private NodeFigures nodeFigures() {
    return new NodeFigures(
        node.nodeId(),
        node.version(),
        readiness.obstacles().isEmpty(),
        node.replica().failure() != null,
        applyingMillis(),
        node.log().diskHungMillis(),
        node.replica().isLeading(),
        leaders.count(),
        node.replica().audit().lostEvents(),
        node.replica().audit().unsentLines(),
        node.stuck().longHolds(),
        node.stuck().longWaits(),
        certificateExpiry(),
        node.maxConnections(),
        node.clients().logins());
  }

  private long applyingMillis() {
    ApplyWatch.UnderWay now = node.replica().applying().underWay();
    return now == null ? 0 : now.millis();
  }

  private @Nullable Instant certificateExpiry() {
    TlsCredentials credentials = node.credentials();
    X509Certificate own = credentials == null ? null : credentials.certificate();
    return own == null ? null : own.getNotAfter().toInstant();
  }

  private @Nullable Taken takeState() {
    CountDownLatch answered = ask();
    try {
      var unused = answered.await(patience.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return last;
  }

  private CountDownLatch ask() {
    CountDownLatch answered;
    synchronized (this) {
      if (pending != null) {
        return pending;
      }
      answered = new CountDownLatch(1);
      pending = answered;
    }
    node.replica().figures(figures -> take(answered, figures));
    return answered;
  }

  private void take(CountDownLatch answered, ReplicaFigures figures) {
    last = new Taken(figures, nanoTime.getAsLong());
    synchronized (this) {
      pending = null;
    }
    answered.countDown();
  }
}
