package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.UserName;
import dev.tollgate.log.Supervision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Looks at the state for all pages of the console together: once in {@link ConsoleLimits#every}, on
 * one thread, and only while somebody watches. A look that took long is followed by a longer pause.
 * Thread-safe.
 *
 * @param <P> what a look sees
 */
final class ConsoleFeed<P> implements AutoCloseable {
  /** Looks at the state. */
  interface Eye<P> {
    /**
     * @param viewers everybody for whom it looks
     * @param ended whether nobody waits for it any more
     * @throws CancellationException once nobody does
     */
    P look(Set<UserName> viewers, BooleanSupplier ended);
  }

  /**
   * What a look has seen.
   *
   * @param number rises with each look
   * @param pause after which the next look begins at the earliest
   */
  record Seen<P>(long number, P picture, Set<UserName> viewers, Duration pause) {
    Seen {
      requireNonNull(picture, "picture");
      requireNonNull(pause, "pause");
      viewers = Set.copyOf(viewers);
    }
  }

  /** A page that watches. Closing it ends its watch. */
  final class Watch implements AutoCloseable {
    private final UserName viewer;
    private boolean over;

    Watch(UserName viewer) {
      this.viewer = viewer;
    }

    /**
     * Waits for a picture for this viewer that is newer than one. Pictures that were taken
     * meanwhile are skipped, and nothing keeps them.
     *
     * @param notBeforeNanos when the viewer takes the picture at the earliest, by {@link
     *     System#nanoTime}
     * @return null if there was none within the time, or the watch or the feed was closed
     * @throws InterruptedException if the client is gone, or the node stops
     */
    @Nullable Seen<P> next(long after, long notBeforeNanos, Duration patience)
        throws InterruptedException {
      return await(this, after, notBeforeNanos, patience);
    }

    @Override
    public void close() {
      synchronized (ConsoleFeed.this) {
        over = true;
        watches.remove(this);
        ConsoleFeed.this.notifyAll();
      }
    }
  }

  private static final long MILLI = 1_000_000;

  private final Eye<P> eye;
  private final ConsoleLimits limits;
  private final Consumer<Throwable> failures;
  private final ThreadPoolExecutor thread;
  private final List<Watch> watches = new ArrayList<>();
  private @Nullable Seen<P> last;
  private long nextNanos = System.nanoTime();
  private boolean running;
  private boolean closed;

  ConsoleFeed(
      String nodeId,
      Eye<P> eye,
      ConsoleLimits limits,
      Supervision supervision,
      Consumer<Throwable> failures) {
    this.eye = requireNonNull(eye, "eye");
    this.limits = requireNonNull(limits, "limits");
    this.failures = requireNonNull(failures, "failures");
    thread =
        new ThreadPoolExecutor(
            0,
            1,
            limits.every().toNanos() * 2,
            TimeUnit.NANOSECONDS,
            new LinkedBlockingQueue<>(),
            supervision.threads("tollgate-" + nodeId + "-console"));
  }

  /** Begins to watch; null if as many pages watch as may, or the node stops. */
  synchronized @Nullable Watch watch(UserName viewer) {
    return hasRoomFor(viewer) ? join(viewer) : null;
  }

  /** False if as many pages watch as may, or as many of this viewer. */
  synchronized boolean hasRoomFor(UserName viewer) {
    long own = watches.stream().filter(watch -> watch.viewer.equals(viewer)).count();
    return watches.size() < limits.watchers()
        && (viewer.equals(UserName.ANONYMOUS) || own < limits.watchersPerUser());
  }

  /** Begins to watch for one picture, which ends soon: threads for requests bound how many do. */
  synchronized @Nullable Watch glance(UserName viewer) {
    return join(viewer);
  }

  private @Nullable Watch join(UserName viewer) {
    if (closed) {
      return null;
    }
    Watch watch = new Watch(viewer);
    watches.add(watch);
    if (!running) {
      running = true;
      thread.execute(this::run);
    }
    return watch;
  }

  /** True once nothing more will be seen. */
  synchronized boolean isClosed() {
    return closed;
  }

  private synchronized @Nullable Seen<P> await(
      Watch watch, long after, long notBeforeNanos, Duration patience) throws InterruptedException {
    long end = System.nanoTime() + patience.toNanos();
    while (!closed && !watch.over) {
      long now = System.nanoTime();
      Seen<P> seen = last;
      boolean isNew =
          seen != null && seen.number() > after && seen.viewers().contains(watch.viewer);
      if (isNew && now - notBeforeNanos >= 0) {
        return seen;
      }
      if (now - end >= 0) {
        return null;
      }
      long left = isNew ? Math.min(end - now, notBeforeNanos - now) : end - now;
      TimeUnit.NANOSECONDS.timedWait(this, Math.max(left, MILLI));
    }
    return null;
  }

  private void run() {
    Set<UserName> viewers = awaitTurn();
    while (viewers != null) {
      long begin = System.nanoTime();
      P picture = null;
      try {
        picture = eye.look(viewers, this::isUnwatched);
      } catch (CancellationException e) {
        // nobody waits for it
      } catch (RuntimeException | Error e) {
        failures.accept(e);
      }
      publish(picture, viewers, begin);
      viewers = awaitTurn();
    }
  }

  private synchronized boolean isUnwatched() {
    return closed || watches.isEmpty();
  }

  private synchronized void publish(@Nullable P picture, Set<UserName> viewers, long begin) {
    long now = System.nanoTime();
    Duration pause = pause(Duration.ofNanos(now - begin), limits.every());
    nextNanos = now + pause.toNanos();
    if (picture != null) {
      last = new Seen<>(last == null ? 1 : last.number() + 1, picture, viewers, pause);
      notifyAll();
    }
  }

  /** The pause after work that took so long, so that the work takes a small part of the time. */
  static Duration pause(Duration took, Duration least) {
    Duration wanted = took.multipliedBy(ConsoleLimits.PAUSES);
    Duration pause = wanted.compareTo(least) < 0 ? least : wanted;
    return pause.compareTo(ConsoleLimits.LONGEST_PAUSE) > 0 ? ConsoleLimits.LONGEST_PAUSE : pause;
  }

  /** Waits until it is time to look, and returns for whom; null if nobody watches. */
  private synchronized @Nullable Set<UserName> awaitTurn() {
    try {
      while (!closed && !watches.isEmpty()) {
        long left = TimeUnit.NANOSECONDS.toMillis(nextNanos - System.nanoTime());
        if (left <= 0) {
          Set<UserName> viewers = new HashSet<>();
          watches.forEach(watch -> viewers.add(watch.viewer));
          return viewers;
        }
        wait(left);
      }
    } catch (InterruptedException e) {
      closed = true;
    }
    running = false;
    last = null;
    return null;
  }

  /** Ends all watches. */
  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      notifyAll();
    }
    thread.shutdownNow();
  }
}
