package org.h2.engine.wrong;

/** Breaks a rule of ArchitectureTest, to see it fire. */
public final class SecondBridge {
  private SecondBridge() {}
}
