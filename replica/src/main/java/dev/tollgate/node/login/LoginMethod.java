package dev.tollgate.node.login;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** How a user may prove who it is. */
public enum LoginMethod {
  /** By a password of the cluster. */
  SCRAM,
  /** By the certificate of the connection. */
  CERT,
  /** By a token of an identity provider. */
  OIDC,
  /** By a password that a directory checks. */
  LDAP,
  /** By no means. */
  REJECT;

  static LoginMethod parse(String word) {
    for (LoginMethod method : values()) {
      if (method.word().equals(word)) {
        return method;
      }
    }
    throw new IllegalArgumentException(
        "'"
            + word
            + "' is no way to log in: write one of "
            + Arrays.stream(values()).map(LoginMethod::word).collect(Collectors.joining(", ")));
  }

  /** As it is written in a file of rules. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
