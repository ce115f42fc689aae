package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.LogFigures;
import dev.tollgate.node.replica.ReplicaFigures;
import java.time.Duration;
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

  /** A question to the apply thread. */
  private static final class Question {
    final CountDownLatch answered = new CountDownLatch(1);
  }

  private final NodeParts node;
  private final Duration patience;
  private final LongSupplier nanoTime;
  private volatile @Nullable Taken last;
  private volatile LogFigures disk = LogFigures.NONE;
  private @Nullable Question pending;

  FigureReader(NodeParts node, Duration patience, LongSupplier nanoTime) {
    this.node = requireNonNull(node, "node");
    this.patience = requireNonNull(patience, "patience");
    this.nanoTime = requireNonNull(nanoTime, "nanoTime");
  }

  /**
   * Takes the figures. Waits for some time for the state, and does I/O.
   *
   * @throws IllegalStateException if the state could not be read within that time, nor ever before
   */
  Figures read() {
    Question question = ask();
    try {
      var unused = question.answered.await(patience.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Taken taken = last;
    if (taken == null) {
      throw new IllegalStateException(
          "the first entry that this node applies takes more than " + patience.toMillis() + " ms");
    }
    LogFigures read = node.log().figures();
    if (read != LogFigures.NONE) {
      disk = read;
    }
    return new Figures(
        node.log().status(),
        taken.figures(),
        Duration.ofNanos(Math.max(0, nanoTime.getAsLong() - taken.nanos())),
        node.pipeline().figures(),
        disk,
        node.clients().figures(),
        node.connections().get());
  }

  private Question ask() {
    Question question;
    synchronized (this) {
      if (pending != null) {
        return pending;
      }
      question = new Question();
      pending = question;
    }
    node.replica().figures(figures -> answered(question, figures));
    return question;
  }

  private void answered(Question question, ReplicaFigures figures) {
    last = new Taken(figures, nanoTime.getAsLong());
    synchronized (this) {
      pending = null;
    }
    question.answered.countDown();
  }
}
