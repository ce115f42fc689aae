package dev.tollgate.node.login;

import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyOperation;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.RSAKey;
import dev.tollgate.core.command.Limits;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.ParseException;
import java.util.ArrayList;
import java.util.List;

/**
 * The public keys with which an issuer signs, from a JWKS (RFC 7517). Keys that sign nothing that a
 * node takes are left out: secrets, keys for encryption, and RSA keys that are too short.
 * Immutable.
 */
record IssuerKeys(List<JWK> keys) {
  /** The fewest bits of an RSA key (RFC 7518, section 3.3). */
  private static final int LEAST_RSA_BITS = 2_048;

  IssuerKeys {
    keys = List.copyOf(keys);
  }

  static IssuerKeys read(Path file) throws IOException {
    if (Files.size(file) > Limits.TOKEN_KEYS_BYTES) {
      throw new IOException(file + " has more than " + Limits.TOKEN_KEYS_BYTES + " bytes");
    }
    return parse(file.toString(), Files.readAllBytes(file));
  }

  /**
   * @param source for messages
   * @throws IOException if there is no usable key
   */
  static IssuerKeys parse(String source, byte[] bytes) throws IOException {
    List<JWK> all;
    try {
      all = JWKSet.parse(new String(bytes, StandardCharsets.UTF_8)).getKeys();
    } catch (ParseException | RuntimeException | StackOverflowError e) {
      // the text of the exception may have parts of keys
      throw new IOException(source + " is no JWKS, the JSON with the member keys", e);
    }
    if (all.size() > Limits.TOKEN_KEYS) {
      throw new IOException(source + " has more than " + Limits.TOKEN_KEYS + " keys");
    }
    List<JWK> usable = new ArrayList<>();
    for (JWK key : all) {
      if (signs(key)) {
        usable.add(key.toPublicJWK());
      }
    }
    if (usable.isEmpty()) {
      throw new IOException(
          source
              + " has no key that signs: an RSA key of at least "
              + LEAST_RSA_BITS
              + " bits, or an EC key");
    }
    return new IssuerKeys(usable);
  }

  private static boolean signs(JWK key) {
    boolean kind =
        key instanceof ECKey || (key instanceof RSAKey rsa && rsa.size() >= LEAST_RSA_BITS);
    boolean use = key.getKeyUse() == null || KeyUse.SIGNATURE.equals(key.getKeyUse());
    // what a node does with a key is to verify (RFC 7517, section 4.3)
    boolean operations =
        key.getKeyOperations() == null || key.getKeyOperations().contains(KeyOperation.VERIFY);
    return kind && use && operations;
  }
}
