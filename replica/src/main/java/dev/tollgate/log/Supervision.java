package dev.tollgate.log;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.entry.LoggedError;
import java.lang.ref.WeakReference;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handles bugs in threads and callbacks that no caller waits for. A node that lost its time keeper,
 * or whose pipeline no longer proposes anything, may lead on and never expire anything. So the node
 * fails instead, and another node takes over. Every thread and every such callback of a node goes
 * through here. Thread-safe.
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

  /** Returns a daemon thread; the node fails if a bug ends the thread. */
  public Thread thread(String name, Runnable work) {
    Thread thread = new Thread(essential(name, work), name);
    thread.setDaemon(true);
    return thread;
  }

  /** Returns a group for the threads of a library; the node fails if an exception ends one. */
  public ThreadGroup group(String name) {
    return new Group(name, this);
  }

  /** The JVM keeps every group for ever, which must not keep a node that was closed. */
  private static final class Group extends ThreadGroup {
    private final WeakReference<Supervision> supervision;

    Group(String name, Supervision supervision) {
      super(name);
      this.supervision = new WeakReference<>(supervision);
    }

    @Override
    public void uncaughtException(Thread ended, Throwable bug) {
      Supervision node = supervision.get();
      if (node != null) {
        node.failed(ended.getName(), bug);
      } else {
        LOG.error("{} of a node that was closed ended", ended.getName(), LoggedError.of(bug));
      }
    }
  }

  /** Returns daemon threads for an executor; the node fails if an executed task throws. */
  public ThreadFactory threads(String name) {
    return work -> {
      Thread thread = new Thread(work, name);
      thread.setDaemon(true);
      thread.setUncaughtExceptionHandler((ended, bug) -> failed(name, bug));
      return thread;
    };
  }

  /**
   * Returns daemon threads that may recurse as deep as the apply thread, for what goes through
   * values that the log has taken; the node fails if an executed task throws.
   */
  public ThreadFactory deepThreads(String name) {
    return work -> {
      Thread thread = ApplyThread.deep(null, work, name);
      thread.setUncaughtExceptionHandler((ended, bug) -> failed(name, bug));
      return thread;
    };
  }

  /** Wraps work that the node cannot do without. */
  public Runnable essential(String what, Runnable work) {
    return () -> {
      try {
        work.run();
      } catch (RuntimeException | Error bug) {
        failed(what, bug);
      }
    };
  }

  /** Wraps work that is retried after an exception; after an error the node fails. */
  public Runnable repeated(String what, Runnable work) {
    return () -> {
      try {
        work.run();
      } catch (RuntimeException e) {
        LOG.error("{}: {} failed, and will be tried again", nodeId, what, LoggedError.of(e));
      } catch (Error bug) {
        failed(what, bug);
      }
    };
  }

  /** Fails the node if this callback ends exceptionally. */
  public void watch(String what, CompletableFuture<?> callback) {
    var unused =
        callback.exceptionally(
            bug -> {
              failed(what, bug);
              return null;
            });
  }

  /** Fails the node, because this part of it met a bug. */
  public void failed(String what, Throwable bug) {
    failure.accept(
        bug instanceof OutOfMemoryError ? bug : new SupervisedFailure(nodeId, what, bug));
  }
}
