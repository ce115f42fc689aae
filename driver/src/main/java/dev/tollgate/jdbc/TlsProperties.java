package dev.tollgate.jdbc;

import dev.tollgate.tls.TlsFiles;
import dev.tollgate.tls.TlsMode;
import dev.tollgate.tls.TlsSettings;
import dev.tollgate.tls.TlsVersion;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The properties of a connection that are about TLS. */
final class TlsProperties {
  private static final Set<TollgateProperty> ALL =
      EnumSet.range(TollgateProperty.SSL, TollgateProperty.SSL_MIN_VERSION);

  private TlsProperties() {}

  /**
   * Reads the properties. Any of them turns TLS on, with all checks, unless sslMode says otherwise.
   * Without any, {@link TlsMode#PREFER}.
   *
   * @throws IllegalArgumentException if a value is wrong or two do not go together
   */
  static TlsSettings read(Map<TollgateProperty, String> given) {
    TlsMode mode = mode(given);
    if (mode == TlsMode.DISABLE) {
      return TlsSettings.OFF;
    }
    Path certificate = path(given, TollgateProperty.SSL_CERT);
    Path key = path(given, TollgateProperty.SSL_KEY);
    Path keyStore = path(given, TollgateProperty.SSL_KEY_STORE);
    if ((certificate == null) != (key == null)) {
      throw new IllegalArgumentException("sslCert and sslKey belong together: set both or neither");
    }
    if (certificate != null && keyStore != null) {
      throw new IllegalArgumentException("set sslCert and sslKey, or sslKeyStore, but not both");
    }
    String storePassword = text(given, TollgateProperty.SSL_KEY_STORE_PASSWORD);
    String keyPassword = text(given, TollgateProperty.SSL_KEY_PASSWORD);
    return new TlsSettings(
        mode,
        new TlsFiles(
            certificate,
            key,
            keyStore,
            certificate != null && keyPassword != null ? keyPassword : storePassword,
            /* passwordFile= */ null,
            path(given, TollgateProperty.SSL_ROOT_CERT),
            /* crl= */ null),
        TlsVersion.parse(
            given.getOrDefault(
                TollgateProperty.SSL_MIN_VERSION,
                TollgateProperty.SSL_MIN_VERSION.defaultValue())));
  }

  private static TlsMode mode(Map<TollgateProperty, String> given) {
    String ssl = text(given, TollgateProperty.SSL);
    if (ssl != null && !ssl.equalsIgnoreCase("true") && !ssl.equalsIgnoreCase("false")) {
      throw new IllegalArgumentException("ssl=" + ssl + " is neither true nor false");
    }
    String mode = text(given, TollgateProperty.SSL_MODE);
    if (mode != null) {
      String known = String.join(", ", TollgateProperty.SSL_MODE.choices());
      if (TollgateProperty.SSL_MODE.choices().stream().noneMatch(mode::equalsIgnoreCase)) {
        throw new IllegalArgumentException("sslMode=" + mode + " is none of " + known);
      }
      TlsMode chosen = TlsMode.parse(mode);
      boolean hasRoot = text(given, TollgateProperty.SSL_ROOT_CERT) != null;
      return chosen == TlsMode.PREFER && hasRoot ? TlsMode.VERIFY_FULL : chosen;
    }
    if (ssl != null && ssl.equalsIgnoreCase("false")) {
      return TlsMode.DISABLE;
    }
    return ALL.stream().anyMatch(given::containsKey) ? TlsMode.VERIFY_FULL : TlsMode.PREFER;
  }

  private static @Nullable String text(
      Map<TollgateProperty, String> given, TollgateProperty property) {
    String text = given.get(property);
    return text == null || text.isEmpty() ? null : text;
  }

  private static @Nullable Path path(
      Map<TollgateProperty, String> given, TollgateProperty property) {
    String text = text(given, property);
    try {
      return text == null ? null : Path.of(text).toAbsolutePath();
    } catch (InvalidPathException e) {
      throw new IllegalArgumentException(property.key() + "=" + text + " is no file", e);
    }
  }
}
