package dev.tollgate.transport;

import java.io.IOException;

/** A node that runs in this JVM. Thread-safe. */
public interface EmbeddedNode extends AutoCloseable {
  /**
   * Opens a channel on which the node speaks the protocol, from {@code Hello} on. A channel ends
   * when either side closes it; all channels end when the node closes.
   */
  FrameChannel connect() throws IOException;

  /** Stops the node and releases its directory; returns when both are done. */
  @Override
  void close();
}
