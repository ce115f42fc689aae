package dev.tollgate.jdbc;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** A property of a connection, set after the question mark of a URL or in the properties. */
public enum TollgateProperty {
  USER("user", "", "The user, where nodes require authentication; elsewhere it is not checked."),
  PASSWORD(
      "password",
      "",
      "The password of the user. Where nodes require no authentication, it is not used."),
  PASSWORD_FILE(
      "passwordFile",
      "",
      "A file whose first line is the password; read again for each connection to a node."),
  PLAIN_PASSWORD(
      "plainPassword",
      "false",
      "true: the nodes get the password itself, and have a directory (LDAP) check it. Sent only to"
          + " nodes whose certificate is verified.",
      "true",
      "false"),
  TOKEN(
      "token",
      "",
      "A token of an identity provider, in place of a password. Sent only to nodes whose certificate"
          + " is verified."),
  TOKEN_FILE(
      "tokenFile",
      "",
      "A file whose first line is the token; read again for each connection to a node."),
  LEASE(
      "lease",
      "15s",
      "How long the connection's own lease, and the locks it holds, outlive this process."),
  LOCK_WAIT("lockWait", "10s", "How long acquire_lock waits where the call does not say."),
  LOCK_TIMEOUT(
      "lockTimeout", "2s", "How long a statement waits for rows that another transaction holds."),
  SESSION_TIMEOUT(
      "sessionTimeout",
      "60s",
      "How long the cluster keeps the session without hearing of this process."),
  FAILOVER_TIMEOUT(
      "failoverTimeout",
      "10s",
      "How long a statement is tried while no healthy node has it; then it fails with 08001 or"
          + " 08007."),
  CONNECT_TIMEOUT("connectTimeout", "3s", "How long one node may take to accept a connection."),
  SOCKET_TIMEOUT(
      "socketTimeout",
      "0",
      "How long an answer may take in all, waits for locks included; 0 for ever."
          + " Connection.setNetworkTimeout changes it."),
  READ_CONSISTENCY(
      "readConsistency",
      "linearizable",
      "What a query may see: all that was acknowledged before it (linearizable), what the leader"
          + " has applied (leader), what the connected node has applied, be it old (any).",
      "linearizable",
      "leader",
      "any"),
  TIME_ZONE(
      "timeZone",
      "",
      "The time zone of the session, a region or an offset. Without it, that which the JVM has by"
          + " default when the connection is opened. SET TIME ZONE changes it."),
  APPLICATION_NAME(
      "applicationName", "", "Shown to operators. Without it, the main class or jar is shown."),
  PRODUCT_NAME(
      "productName",
      "H2",
      "What DatabaseMetaData.getDatabaseProductName answers; tools choose their dialect by it."),
  FETCH_SIZE(
      "fetchSize",
      "0",
      "0: all rows are fetched when the query runs, so that reading them survives the loss of a"
          + " node. More: rows are fetched in pages of this many."),
  DATA_KEY_FILE(
      "dataKeyFile",
      "",
      "File with the data keys that encrypt the directory of jdbc:tollgate:embedded:; read again when"
          + " it changes."),
  SSL(
      "ssl",
      "false",
      "true: connections use TLS with all checks, unless sslMode says otherwise.",
      "true",
      "false"),
  SSL_MODE(
      "sslMode",
      "prefer",
      "prefer: TLS to other hosts, where any certificate will do, and none to this one. A node on"
          + " another host that has no TLS gets no user and no password. disable: no TLS. require:"
          + " TLS, but any certificate will do. verify-ca: the node's certificate"
          + " has to be issued by a trusted CA. verify-full: it also has to be for the host of the"
          + " URL; this is the default if another ssl property is set.",
      "prefer",
      "disable",
      "require",
      "verify-ca",
      "verify-full"),
  SSL_ROOT_CERT(
      "sslRootCert",
      "",
      "File with the certificates of trusted CAs, PEM or PKCS#12. Without it, the JDK's own CAs are"
          + " trusted."),
  SSL_CERT(
      "sslCert", "", "File with this client's certificate, and those between it and its CA; PEM."),
  SSL_KEY("sslKey", "", "File with the key of sslCert; PEM, PKCS#8."),
  SSL_KEY_PASSWORD("sslKeyPassword", "", "Password of sslKey, if that is encrypted."),
  SSL_KEY_STORE(
      "sslKeyStore", "", "PKCS#12 file with certificate and key, in place of sslCert and sslKey."),
  SSL_KEY_STORE_PASSWORD(
      "sslKeyStorePassword", "", "Password of sslKeyStore, and of sslRootCert if that is PKCS#12."),
  SSL_MIN_VERSION(
      "sslMinVersion", "1.3", "The oldest version of TLS that the client speaks.", "1.3", "1.2");

  /** A name of at most so many letters is meant only if at most one letter differs. */
  private static final int SHORT_KEY = 3;

  private final String key;
  private final String defaultValue;
  private final String description;

  @SuppressWarnings("ImmutableEnumChecker") // made by List.of
  private final List<String> choices;

  TollgateProperty(String key, String defaultValue, String description, String... choices) {
    this.key = key;
    this.defaultValue = defaultValue;
    this.description = description;
    this.choices = List.of(choices);
  }

  /** The name, as written in a URL. */
  public String key() {
    return key;
  }

  /** The value that applies if the property is not set. */
  public String defaultValue() {
    return defaultValue;
  }

  /** One or two sentences for the property page of a tool. */
  public String description() {
    return description;
  }

  /** All allowed values, or empty if there are too many to name. */
  public List<String> choices() {
    return choices;
  }

  /** The property with this name; upper and lower case are the same. */
  static Optional<TollgateProperty> find(String key) {
    return Arrays.stream(values()).filter(p -> p.key.equalsIgnoreCase(key)).findFirst();
  }

  /** The property whose name is most like this one. */
  static TollgateProperty nearest(String key) {
    return Arrays.stream(values())
        .min(Comparator.comparingInt(p -> distance(p.key, key)))
        .orElseThrow();
  }

  /**
   * True if this is the name of a property, or is probably meant to be: at most two letters differ.
   */
  static boolean resembles(String key) {
    TollgateProperty nearest = nearest(key);
    return distance(nearest.key, key) <= (nearest.key.length() <= SHORT_KEY ? 1 : 2);
  }

  /** True if the value of a property of this name may be a password, or a misspelled one's. */
  static boolean mayBePassword(String key) {
    return nearest(key).isSecret() && resembles(key);
  }

  /** True if no message may show the value. */
  boolean isSecret() {
    return this == PASSWORD
        || this == TOKEN
        || this == SSL_KEY_PASSWORD
        || this == SSL_KEY_STORE_PASSWORD;
  }

  /** The number of letters to change, add or remove (Levenshtein 1965). */
  private static int distance(String a, String b) {
    String left = a.toLowerCase(Locale.ROOT);
    String right = b.toLowerCase(Locale.ROOT);
    int[] row = new int[right.length() + 1];
    for (int j = 0; j < row.length; j++) {
      row[j] = j;
    }
    for (int i = 1; i <= left.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j < row.length; j++) {
        int changed = diagonal + (left.charAt(i - 1) == right.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(changed, Math.min(row[j], row[j - 1]) + 1);
      }
    }
    return row[right.length()];
  }
}
