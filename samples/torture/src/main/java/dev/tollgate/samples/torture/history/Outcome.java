package dev.tollgate.samples.torture.history;

/** How a call ended, as its client was told. */
public enum Outcome {
  /** It took effect. */
  DONE,
  /** It was answered and changed nothing: a wait timed out, a lock was not held. */
  NOTHING,
  /** The store refused the token or the lease; it changed nothing. */
  REFUSED,
  /** It failed, and certainly changed nothing. */
  FAILED,
  /** It may have taken effect or not, or may still do so. */
  UNKNOWN
}
