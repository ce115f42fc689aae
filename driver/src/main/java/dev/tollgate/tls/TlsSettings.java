package dev.tollgate.tls;

import static java.util.Objects.requireNonNull;

/** How a client speaks TLS with the nodes of a cluster. */
public record TlsSettings(TlsMode mode, TlsFiles files, TlsVersion minVersion) {
  /** No TLS. */
  public static final TlsSettings OFF =
      new TlsSettings(TlsMode.DISABLE, TlsFiles.NONE, TlsVersion.TLS_1_3);

  public TlsSettings {
    requireNonNull(mode, "mode");
    requireNonNull(files, "files");
    requireNonNull(minVersion, "minVersion");
  }
}
