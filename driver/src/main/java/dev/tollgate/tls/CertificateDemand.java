package dev.tollgate.tls;

/** Whether a server wants a certificate of the client. */
public enum CertificateDemand {
  /** It does not ask. */
  NONE,
  /** It asks, checks what it gets, and serves a client without one too. */
  WANTED,
  /** It serves no client without one. */
  REQUIRED
}
