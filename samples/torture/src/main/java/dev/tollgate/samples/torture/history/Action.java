package dev.tollgate.samples.torture.history;

/** What a client asks of the cluster. */
public enum Action {
  /** Requests a lock; the value of the call is the token. */
  ACQUIRE,
  /** Reads the highest sequence number of a register; that number is the value of the call. */
  CHECK,
  /** Writes the next sequence number into a register, under a token; 0 stands for no token. */
  WRITE,
  /** Releases a lock. */
  RELEASE,
  /** A small write that needs no lock, to see whether the cluster answers. */
  PROBE
}
