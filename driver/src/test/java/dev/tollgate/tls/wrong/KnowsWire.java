package dev.tollgate.tls.wrong;

import dev.tollgate.wire.Frame;

/** Breaks a rule of ArchitectureTest. */
public final class KnowsWire {
  private KnowsWire() {}

  public static Frame same(Frame frame) {
    return frame;
  }
}
