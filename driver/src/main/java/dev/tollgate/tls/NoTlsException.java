package dev.tollgate.tls;

/** What came from the other side is not TLS. */
public final class NoTlsException extends TlsException {
  private static final long serialVersionUID = 1L;

  NoTlsException(String message) {
    super(message);
  }
}
