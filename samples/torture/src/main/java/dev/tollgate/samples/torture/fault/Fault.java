package dev.tollgate.samples.torture.fault;

import java.io.IOException;

/** Something that can go wrong with a cluster. Without state. */
interface Fault {
  /** Makes it go wrong. What exactly, and for whom, the scene's random numbers say. */
  Injury inflict(Scene scene) throws IOException, InterruptedException;
}
