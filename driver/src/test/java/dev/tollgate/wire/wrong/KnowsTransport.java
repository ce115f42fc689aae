package dev.tollgate.wire.wrong;

import dev.tollgate.transport.NodeAddress;
import dev.tollgate.wire.Protocol;

/** Breaks the rules of ArchitectureTest, to see them fire. */
public final class KnowsTransport {
  private KnowsTransport() {}

  public static NodeAddress address() {
    return new NodeAddress("h", Protocol.DEFAULT_PORT);
  }
}
