package dev.tollgate.log.peer;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.Supervision;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes frames to a connection, and never makes its caller wait for the network. As long as the
 * other side has read what was sent before, except for less than the send buffer of the socket, the
 * caller writes the frame itself: that takes no other thread, and cannot block. Otherwise a thread
 * of this writer does. Thread-safe; frames are sent in the order in which they are given.
 */
final class FrameWriter {
  /** A large frame is written in pieces, so that its progress shows that the other side reads. */
  private static final int PIECE_BYTES = 64 << 10;

  /** What a frame takes of a send buffer besides its bytes, at the most. */
  private static final long FRAME_OVERHEAD_BYTES = 1 << 10;

  private final OutputStream out;
  private final long window;
  private final long maxQueuedBytes;
  private final String name;
  private final Supervision supervision;
  private final Consumer<IOException> broken;
  private final AtomicLong unread = new AtomicLong();
  private final ReentrantLock mutex = new ReentrantLock();
  private final Condition changed = mutex.newCondition();
  private final Deque<byte[]> queue = new ArrayDeque<>();
  private long queuedBytes;
  private boolean threadWrites;
  private boolean closed;
  private volatile long wroteNanos = System.nanoTime();
  private @Nullable Thread thread;

  /**
   * @param sendBufferBytes of the socket below this stream
   * @param maxQueuedBytes frames that wait for a slow reader; with more the connection is given up
   * @param name of the thread
   * @param broken is told once that a frame could not be written by the thread
   */
  FrameWriter(
      OutputStream out,
      long sendBufferBytes,
      long maxQueuedBytes,
      String name,
      Supervision supervision,
      Consumer<IOException> broken) {
    this.out = requireNonNull(out, "out");
    this.window = sendBufferBytes / 4;
    this.maxQueuedBytes = maxQueuedBytes;
    this.name = requireNonNull(name, "name");
    this.supervision = requireNonNull(supervision, "supervision");
    this.broken = requireNonNull(broken, "broken");
  }

  /** Returns what a frame counts until the other side has read it. */
  static long cost(byte[] frame) {
    return frame.length + FRAME_OVERHEAD_BYTES;
  }

  void write(byte[] frame) throws IOException {
    write(frame, cost(frame));
  }

  /**
   * Sends a frame.
   *
   * @param cost at least {@link #cost}, unless nothing will say that this frame was read
   * @throws IOException if the connection is broken or closed, or the other side reads too slowly
   */
  void write(byte[] frame, long cost) throws IOException {
    long ahead = unread.addAndGet(cost);
    mutex.lock();
    try {
      if (closed) {
        throw new IOException("the connection is closed");
      }
      if (!threadWrites && ahead <= window) {
        out.write(frame);
        return;
      }
      if (queuedBytes > 0 && queuedBytes + frame.length > maxQueuedBytes) {
        throw new IOException(
            queuedBytes + " bytes wait to be read by the other node, and it takes no more");
      }
      queue.addLast(frame);
      queuedBytes += frame.length;
      threadWrites = true;
      if (thread == null) {
        thread = supervision.thread(name, this::writeQueued);
        thread.start();
      } else {
        changed.signal();
      }
    } finally {
      mutex.unlock();
    }
  }

  /** Records that the other side has read frames with this cost. */
  void read(long cost) {
    unread.addAndGet(-cost);
  }

  /** When the thread last wrote some bytes, by {@link System#nanoTime}. */
  long wroteNanos() {
    return wroteNanos;
  }

  private void writeQueued() {
    try {
      for (byte[] frame = next(); frame != null; frame = next()) {
        for (int from = 0; from < frame.length; from += PIECE_BYTES) {
          out.write(frame, from, Math.min(PIECE_BYTES, frame.length - from));
          wroteNanos = System.nanoTime();
        }
      }
    } catch (IOException e) {
      broken.accept(e);
    }
  }

  /** Returns the next frame for the thread, or null once this is closed. */
  private byte @Nullable [] next() {
    mutex.lock();
    try {
      while (queue.isEmpty() && !closed) {
        threadWrites = false;
        changed.awaitUninterruptibly();
      }
      byte[] frame = queue.pollFirst();
      if (closed || frame == null) {
        return null;
      }
      queuedBytes -= frame.length;
      return frame;
    } finally {
      mutex.unlock();
    }
  }

  /** Ends the thread, once the stream is closed too. */
  void close() {
    mutex.lock();
    try {
      closed = true;
      queue.clear();
      queuedBytes = 0;
      changed.signal();
    } finally {
      mutex.unlock();
    }
  }
}
