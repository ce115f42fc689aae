package dev.tollgate.log.peer;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;
import org.apache.ratis.protocol.RaftPeer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way to another node: at most one connection, which is made when a caller can wait for it.
 * After an attempt that failed the next one waits a moment, so a node that is down costs little.
 * Thread-safe.
 */
final class PeerLink implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PeerLink.class);

  /** A connection that ends before counts as an attempt that failed. */
  private static final long SHORT_LIFE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final PeerSettings settings;
  private final RaftPeer peer;
  private final ReentrantLock mutex = new ReentrantLock();
  private volatile @Nullable PeerConnection current;
  private @Nullable CompletableFuture<PeerConnection> attempt;
  private @Nullable IOException lastFailure;
  private long retryNanos;
  private volatile int shortLived;
  private boolean closed;

  /** Whether the node lacks entries that it has acknowledged to this one. */
  private volatile boolean lostEntries;

  PeerLink(PeerSettings settings, RaftPeer peer) {
    this.settings = requireNonNull(settings, "settings");
    this.peer = requireNonNull(peer, "peer");
  }

  RaftPeer peer() {
    return peer;
  }

  /** Returns the connection to the node, or null if there is none at this moment. */
  @Nullable PeerConnection connection() {
    PeerConnection open = current;
    return open == null || open.isClosed() ? null : open;
  }

  /**
   * Returns the connection to the node, and makes it if need be.
   *
   * @throws IOException if the node is not reached, was not a moment ago, or refuses this one
   */
  PeerConnection connect() throws IOException, InterruptedException {
    PeerConnection open = connection();
    if (open != null) {
      return open;
    }
    try {
      return attempt().get(2L * PeerSockets.HELLO_MILLIS, TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw unreachable(requireNonNull(e.getCause()));
    } catch (TimeoutException e) {
      throw unreachable(e);
    }
  }

  private IOException unreachable(Throwable cause) {
    return new IOException(
        "node "
            + peer.getId()
            + " at "
            + peer.getAddress()
            + " is not reached: "
            + (cause instanceof IOException ? cause.getMessage() : cause),
        cause);
  }

  /**
   * Returns the connection once it is made, as {@link #connect}. Does not wait.
   *
   * @return completed by the thread that reads the answers, which must not wait either
   */
  CompletableFuture<PeerConnection> attempt() {
    mutex.lock();
    try {
      if (closed) {
        return CompletableFuture.failedFuture(new IOException("this node stops"));
      }
      PeerConnection open = connection();
      if (open != null) {
        return CompletableFuture.completedFuture(open);
      }
      CompletableFuture<PeerConnection> running = attempt;
      if (running != null) {
        return running;
      }
      if (lastFailure != null && System.nanoTime() - retryNanos < 0) {
        return CompletableFuture.failedFuture(lastFailure);
      }
      CompletableFuture<PeerConnection> started = new CompletableFuture<>();
      PeerConnection connection = new PeerConnection(settings, peer);
      current = connection;
      attempt = started;
      try {
        settings
            .supervision()
            .thread(
                "tollgate-" + settings.nodeId() + "-to-" + peer.getId(),
                () -> run(connection, started))
            .start();
      } catch (OutOfMemoryError e) {
        attempt = null;
        throw e;
      }
      return started;
    } finally {
      mutex.unlock();
    }
  }

  private void run(PeerConnection connection, CompletableFuture<PeerConnection> started) {
    IOException failure = null;
    try {
      connection.open();
    } catch (IOException e) {
      connection.close(e);
      failure = e;
    }
    boolean known;
    mutex.lock();
    try {
      known = lastFailure != null;
      attempt = null;
      lastFailure = failure;
      retryNanos = System.nanoTime() + settings.retryNanos();
    } finally {
      mutex.unlock();
    }
    if (failure != null) {
      if (!known) {
        LOG.info(
            "{}: {} at {} is not reached: {}",
            settings.nodeId(),
            peer.getId(),
            peer.getAddress(),
            failure.getMessage());
      }
      started.completeExceptionally(failure);
      return;
    }
    long began = System.nanoTime();
    if (shortLived < Limits.LOGGED_SHORT_CONNECTIONS) {
      LOG.info("{}: connected to {} at {}", settings.nodeId(), peer.getId(), peer.getAddress());
    }
    started.complete(connection);
    IOException end = connection.readAnswers();
    boolean isShort = System.nanoTime() - began < SHORT_LIFE_NANOS;
    if (shortLived < Limits.LOGGED_SHORT_CONNECTIONS) {
      LOG.info("{}: lost {}: {}", settings.nodeId(), peer.getId(), end.getMessage());
    }
    mutex.lock();
    try {
      shortLived = isShort ? shortLived + 1 : 0;
      if (isShort) {
        lastFailure = end;
        retryNanos = System.nanoTime() + settings.retryNanos();
      }
    } finally {
      mutex.unlock();
    }
  }

  /**
   * Has the node say something, if it is there, while a call to it takes long.
   *
   * @param answered is told its term, by the thread that reads the answers
   */
  void ask(LongConsumer answered) {
    PeerConnection open = connection();
    if (open != null) {
      var unused = open.term().thenAccept(answer -> answered.accept(answer.body().i64()));
    }
  }

  /** True if the node lacks entries that it has acknowledged to this one, in this term. */
  boolean hasLostEntries() {
    return lostEntries;
  }

  void noteLostEntries(boolean lost) {
    lostEntries = lost;
  }

  /** Connects, or has the node say something, so that a silent connection ends. Does not wait. */
  void keep() {
    if (connection() == null) {
      var unused = attempt();
    } else {
      ask(term -> {});
    }
  }

  @Override
  public void close() {
    mutex.lock();
    try {
      closed = true;
    } finally {
      mutex.unlock();
    }
    PeerConnection open = current;
    if (open != null) {
      open.breakOff(new IOException("this node closes it"));
    }
  }
}
