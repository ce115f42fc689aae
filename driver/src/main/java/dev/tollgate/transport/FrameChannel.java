package dev.tollgate.transport;

import dev.tollgate.wire.Frame;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A two-way stream of frames to one node. Any thread may send and close; one thread at a time
 * receives. An interrupt ends neither sending nor receiving; only closing does.
 */
public interface FrameChannel extends AutoCloseable {
  /**
   * Sends a frame, whole or not at all: after an exception the node has not received the frame.
   *
   * @throws IOException if the channel is closed or broken
   */
  void send(Frame frame) throws IOException;

  /**
   * Waits for the next frame.
   *
   * @return empty if no frame arrived in this time; the bytes of a partial frame are kept
   * @throws IOException if the channel is closed, by either side, or broken
   */
  Optional<Frame> receive(Duration timeout) throws IOException;

  /**
   * The number of bytes that have arrived so far. More bytes are a sign of life, even without a
   * whole frame. Always 0 for a channel on which frames arrive whole.
   */
  default long arrivedBytes() {
    return 0;
  }

  /**
   * What binds an authentication to this channel: {@code tls-server-end-point} of RFC 5929, a hash
   * of the node's certificate. Null for a channel without TLS, and if that certificate has no hash.
   */
  default byte @Nullable [] channelBinding() {
    return null;
  }

  /**
   * True if the other side has not shown who it is, so that only a login that is bound to the
   * channel can show that nobody sits in between.
   */
  default boolean isUnverified() {
    return false;
  }

  /**
   * True if the channel is encrypted and the other side has shown who it is, so that what is secret
   * can be sent as it is.
   */
  default boolean isVerified() {
    return false;
  }

  /** Ends the channel; a thread in {@link #send} or {@link #receive} gets an exception. */
  @Override
  void close();
}
