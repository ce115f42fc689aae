package dev.tollgate.log;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What becomes of a bug in a thread or a callback that nobody waits for. A node that lost its time
 * keeper, or whose pipeline proposes nothing any more, may lead on and never expire anything. So
 * the node fails instead, and another one takes over. Every thread and every such callback of a
 * node goes through here. Thread-safe.
 */
public final class Supervision {
  private static final Logger LOG = LoggerFactory.getLogger(Supervision.class);

  private final String nodeId;
  private final Consumer<Throwable> failure;

  /**
   * @param failure ends the node; may be called more than once, from any thread
   */
  public Supervision(String nodeId, Consumer<Throwable> failure) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.failure = requireNonNull(failure, "failure");
  }

  /** A daemon thread; the node fails if it ends by a bug. */
  public Thread thread(String name, Runnable work) {
    Thread thread = new Thread(essential(name, work), name);
    thread.setDaemon(true);
    return thread;
  }

  /** Daemon threads of an executor; the node fails if a task that was executed throws. */
  public ThreadFactory threads(String name) {
    return work -> {
      Thread thread = new Thread(work, name);
      thread.setDaemon(true);
      thread.setUncaughtExceptionHandler((ended, bug) -> failed(name, bug));
      return thread;
    };
  }

  /** Work that the node cannot do without. */
  public Runnable essential(String what, Runnable work) {
    return () -> {
      try {
        work.run();
      } catch (RuntimeException | Error bug) {
        failed(what, bug);
      }
    };
  }

  /** Work that is tried again after an exception; after an error the node fails. */
  public Runnable repeated(String what, Runnable work) {
    return () -> {
      try {
        work.run();
      } catch (RuntimeException e) {
        LOG.error("{}: {} failed, and will be tried again", nodeId, what, e);
      } catch (Error bug) {
        failed(what, bug);
      }
    };
  }

  /** The node fails if this ends exceptionally. */
  public void watch(String what, CompletableFuture<?> callback) {
    var unused =
        callback.exceptionally(
            bug -> {
              failed(what, bug);
              return null;
            });
  }

  /** The node fails, because this part of it met a bug. */
  public void failed(String what, Throwable bug) {
    failure.accept(
        bug instanceof OutOfMemoryError ? bug : new SupervisedFailure(nodeId, what, bug));
  }
}
