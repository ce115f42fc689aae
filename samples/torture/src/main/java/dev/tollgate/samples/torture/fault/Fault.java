package dev.tollgate.samples.torture.fault;

import java.io.IOException;

/** A fault that a cluster can suffer. Implementations have no state. */
interface Fault {
  /** Injects the fault. The scene's random numbers decide its details and its victims. */
  Injury inflict(Scene scene) throws IOException, InterruptedException;
}
