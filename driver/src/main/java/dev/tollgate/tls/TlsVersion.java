package dev.tollgate.tls;

import java.util.List;

/** The oldest version of TLS that a connection may use. */
public enum TlsVersion {
  TLS_1_3("1.3", "TLSv1.3"),
  TLS_1_2("1.2", "TLSv1.3", "TLSv1.2");

  private final String number;

  @SuppressWarnings("ImmutableEnumChecker") // made by List.of
  private final List<String> protocols;

  TlsVersion(String number, String... protocols) {
    this.number = number;
    this.protocols = List.of(protocols);
  }

  /**
   * Reads {@code 1.3} or {@code 1.2}.
   *
   * @throws IllegalArgumentException if it is neither
   */
  public static TlsVersion parse(String text) {
    for (TlsVersion version : values()) {
      if (version.number.equals(text)) {
        return version;
      }
    }
    throw new IllegalArgumentException("'" + text + "' is no version of TLS: write 1.3 or 1.2");
  }

  /** The names that JSSE has for the versions that are allowed. */
  public List<String> protocols() {
    return protocols;
  }

  @Override
  public String toString() {
    return number;
  }
}
