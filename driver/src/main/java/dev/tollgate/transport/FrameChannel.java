package dev.tollgate.transport;

import dev.tollgate.wire.Frame;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;

/**
 * A two-way stream of frames to one node. Any thread may send and close; one thread at a time
 * receives. An interrupt ends neither sending nor receiving: closing does.
 */
public interface FrameChannel extends AutoCloseable {
  /**
   * Sends a frame, whole or not at all: after an exception the node has not got it.
   *
   * @throws IOException if the channel is closed or broken
   */
  void send(Frame frame) throws IOException;

  /**
   * Waits for the next frame.
   *
   * @return empty if none arrived in this time; what arrived of one so far is not lost
   * @throws IOException if the channel is closed, by either side, or broken
   */
  Optional<Frame> receive(Duration timeout) throws IOException;

  /**
   * How many bytes have arrived so far: a sign of life even where they are no whole frame yet. 0
   * for ever where frames arrive whole.
   */
  default long arrivedBytes() {
    return 0;
  }

  /** Ends the channel; a thread that is in {@link #send} or {@link #receive} gets an exception. */
  @Override
  void close();
}
