package dev.tollgate.wire;

/** Bytes from the other side that violate the protocol; the connection is of no use. */
public final class WireFormatException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public WireFormatException(String message) {
    super(message);
  }
}
