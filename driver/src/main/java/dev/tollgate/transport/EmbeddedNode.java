package dev.tollgate.transport;

import java.io.IOException;

/** A node that runs in this JVM. Thread-safe. */
public interface EmbeddedNode extends AutoCloseable {
  /**
   * Opens a channel on which the node speaks the protocol, from {@code Hello} on. Channels end when
   * either side closes them, and all of them when the node closes.
   */
  FrameChannel connect() throws IOException;

  /** Stops the node and releases its directory; returns when both is done. */
  @Override
  void close();
}
