package dev.tollgate.node.scripts;

/**
 * Whether a client may send a request again if it does not know whether the request took effect.
 */
enum Repeat {
  /** A second request does nothing, or nothing that matters. */
  SAFE,
  /** A second request may do harm. */
  UNSAFE
}
