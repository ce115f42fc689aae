package dev.tollgate.tls;

import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.util.Locale;
import javax.net.ssl.SSLException;

/**
 * Two sides do not agree about TLS. Trying again does not help until somebody changes a setting.
 */
public class TlsException extends SSLException {
  private static final long serialVersionUID = 1L;

  public TlsException(String message) {
    super(message);
  }

  public TlsException(String message, Throwable cause) {
    super(message, cause);
  }

  /**
   * Says in plain words why a handshake failed.
   *
   * @param other the other side, for the message
   */
  public static TlsException of(SSLException failure, String other) {
    if (failure instanceof TlsException known) {
      return known;
    }
    String message = String.valueOf(failure.getMessage());
    if (message.startsWith("Received fatal alert: ")) {
      return new TlsException(alert(message.substring(message.indexOf(':') + 2), other), failure);
    }
    for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
      String text = String.valueOf(cause.getMessage());
      if (cause instanceof CertificateExpiredException
          || cause instanceof CertificateNotYetValidException) {
        return new TlsException(
            "the certificate of " + other + " is not valid today: " + text, failure);
      }
      if (cause instanceof CertPathBuilderException) {
        return new TlsException(
            "the certificate of " + other + " was not issued by a CA that this side trusts",
            failure);
      }
      if (cause instanceof CertificateException
          && !(cause.getCause() instanceof CertPathValidatorException)
          && !(cause.getCause() instanceof CertPathBuilderException)) {
        return new TlsException("the certificate of " + other + " is refused: " + text, failure);
      }
    }
    return new TlsException("no TLS with " + other + ": " + message, failure);
  }

  private static String alert(String alert, String other) {
    return switch (alert.toLowerCase(Locale.ROOT)) {
      case "certificate_required" -> other + " demands a certificate of this side, which has none";
      case "bad_certificate",
          "certificate_unknown",
          "unknown_ca",
          "certificate_expired",
          "certificate_revoked",
          "unsupported_certificate",
          "access_denied" ->
          other + " refuses the certificate of this side (" + alert + "); its log says why";
      case "protocol_version" -> other + " speaks no version of TLS that this side allows";
      default -> other + " ended the handshake with the alert " + alert;
    };
  }
}
