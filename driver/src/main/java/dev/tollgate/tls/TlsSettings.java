package dev.tollgate.tls;

import static java.util.Objects.requireNonNull;

/** How a client speaks TLS with the nodes of a cluster. */
public record TlsSettings(TlsMode mode, TlsFiles files, TlsVersion minVersion) {
  /** No TLS. */
  public static final TlsSettings OFF =
      new TlsSettings(TlsMode.DISABLE, TlsFiles.NONE, TlsVersion.TLS_1_3);

  /** What a client does that was told nothing. */
  public static final TlsSettings DEFAULT =
      new TlsSettings(TlsMode.PREFER, TlsFiles.NONE, TlsVersion.TLS_1_3);

  /** Whether a client knows that it speaks with the node that it means, before it logs in. */
  public boolean verifies() {
    return mode == TlsMode.VERIFY_CA || mode == TlsMode.VERIFY_FULL;
  }

  public TlsSettings {
    requireNonNull(mode, "mode");
    requireNonNull(files, "files");
    requireNonNull(minVersion, "minVersion");
  }
}
