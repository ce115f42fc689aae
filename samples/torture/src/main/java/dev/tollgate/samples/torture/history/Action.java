package dev.tollgate.samples.torture.history;

/** What a client asks of the cluster. */
public enum Action {
  /** For a lock; its value is the token. */
  ACQUIRE,
  /** Reads the highest sequence number of a register, which is its value. */
  CHECK,
  /** Writes the next sequence number into a register, under a token; 0 stands for none. */
  WRITE,
  /** Gives a lock back. */
  RELEASE,
  /** A small write that needs no lock, to see whether the cluster answers. */
  PROBE
}
