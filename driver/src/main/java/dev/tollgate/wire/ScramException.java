package dev.tollgate.wire;

/** A message of the other side that does not belong to the exchange, or that proves nothing. */
public final class ScramException extends Exception {
  private static final long serialVersionUID = 1L;

  ScramException(String message) {
    super(message);
  }
}
