package dev.tollgate.node;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import javax.crypto.Mac;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * One login by SCRAM-SHA-256 (RFC 5802, RFC 7677), right or with parts that were changed, and an
 * opinion of whether the node may believe it. Written after the RFCs, with nothing of the product.
 */
final class FuzzedScram {
  /** The salted passwords are what takes time, and there are few. */
  private static final Map<String, byte[]> SALTED = new ConcurrentHashMap<>();

  private static final String END_POINT = "p=tls-server-end-point";

  private final Random random;
  private final byte @Nullable [] binding;
  private final Map<String, String> passwords;
  private final String name;
  private final String password;
  private boolean changed;

  /** One part of so many is changed: where each is, none gets to the checks behind the first. */
  private final int rate;

  private final String mechanism;
  private final String header;
  private final String bare;

  /**
   * @param binding of the channel; null without TLS
   * @param passwords of users, by their names in capitals
   * @param changes how many parts are changed at most
   */
  FuzzedScram(
      Random random, byte @Nullable [] binding, Map<String, String> passwords, boolean changes) {
    this.random = random;
    this.rate = one(List.of(5, 15, 30, 60));
    this.binding = binding;
    this.passwords = passwords;
    List<String> names = List.copyOf(passwords.keySet());
    String known = one(names);
    this.name =
        odd(
            changes,
            known.toLowerCase(Locale.ROOT),
            known,
            "nobody",
            "",
            "=",
            "=2C",
            "=3D=2c",
            "mo,",
            "m\u0000o",
            "m\u00f6",
            "\ud83d\ude00",
            "mo ",
            "'MO'",
            "x".repeat(255),
            "x".repeat(256),
            "x".repeat(1_900),
            "root");
    this.password =
        random.nextInt(changes ? 4 : 1_000) == 0 ? "wrong password" : passwords.get(known);
    String right = binding == null || random.nextBoolean() ? "SCRAM-SHA-256" : "SCRAM-SHA-256-PLUS";
    this.mechanism =
        odd(
            changes,
            right,
            right,
            "SCRAM-SHA-256",
            "SCRAM-SHA-256-PLUS",
            "scram-sha-256",
            "SCRAM-SHA-1",
            "PLAIN",
            "EXTERNAL",
            "OAUTHBEARER",
            "",
            "\u0000",
            "SCRAM-SHA-256\u0000");
    String flag = right.endsWith("PLUS") ? END_POINT : "n";
    this.header =
        odd(
            changes,
            flag + ",,",
            flag + ",,",
            "n,,",
            "y,,",
            END_POINT + ",,",
            "p=tls-unique,,",
            "p=tls-exporter,,",
            "p=,,",
            ",,",
            "n,",
            "n,a=mo,",
            "n,a=root,",
            "n,a=MO,",
            "n,a=,",
            "y,a=mo,",
            "F,n,,",
            "N,,",
            "n,,,");
    String nonce =
        odd(
            changes,
            nonce(),
            nonce(),
            "1234567",
            "r,r",
            "",
            "x".repeat(256),
            "x".repeat(257),
            "\u0001".repeat(9),
            "\u00e9".repeat(9),
            " ".repeat(9));
    this.bare =
        odd(
            changes,
            "n=" + name + ",r=" + nonce,
            "n=" + name + ",r=" + nonce,
            "m=x,n=" + name + ",r=" + nonce,
            "n=" + name + ",r=" + nonce + ",x=y",
            "r=" + nonce + ",n=" + name,
            "n=" + name,
            "r=" + nonce,
            "n=" + name + ",r=" + nonce + ",r=" + nonce,
            "n=" + name + ",n=root,r=" + nonce,
            "N=" + name + ",R=" + nonce,
            "");
  }

  private <T> T one(List<T> from) {
    return from.get(random.nextInt(from.size()));
  }

  /** Mostly one of the first two, which are right. */
  private String odd(boolean changes, String right, String alsoRight, String... others) {
    if (!changes || random.nextInt(rate) != 0) {
      return random.nextBoolean() ? right : alsoRight;
    }
    changed = true;
    return one(List.of(others));
  }

  private String nonce() {
    byte[] bytes = new byte[18];
    random.nextBytes(bytes);
    return Base64.getEncoder().encodeToString(bytes);
  }

  String mechanism() {
    return mechanism;
  }

  byte[] first() {
    return (header + bare).getBytes(UTF_8);
  }

  /** True if nothing was changed, and the password is right. */
  boolean isRight() {
    return !changed && password.equals(passwords.get(name.toUpperCase(Locale.ROOT)));
  }

  /** The answer to a challenge; what is changed in it is changed in what is signed too. */
  String last(byte[] challenge, boolean changes) throws GeneralSecurityException {
    String asked = new String(challenge, UTF_8);
    String[] parts = asked.split(",", -1);
    if (parts.length != 3 || !parts[0].startsWith("r=") || !parts[1].startsWith("s=")) {
      throw new AssertionError("no challenge: " + asked);
    }
    String joint = parts[0].substring(2);
    String bound = bound(header);
    String binding =
        odd(
            changes,
            bound,
            bound,
            bound("n,,"),
            bound("y,,"),
            "biws",
            "",
            "biws=",
            "b",
            "biwt",
            Base64.getEncoder().encodeToString((header + "x").getBytes(UTF_8)));
    String nonce =
        odd(
            changes,
            joint,
            joint,
            joint + "x",
            joint.substring(1),
            "",
            joint.substring(0, 24),
            joint.substring(24),
            joint + "," + joint);
    String unsigned = "c=" + binding + ",r=" + nonce;
    unsigned =
        odd(
            changes,
            unsigned,
            unsigned,
            unsigned + ",x=y",
            "r=" + nonce + ",c=" + binding,
            "c=" + binding,
            "r=" + nonce,
            "m=x," + unsigned,
            "");
    byte[] salted =
        salted(password, parts[1].substring(2), Integer.parseInt(parts[2].substring(2)));
    byte[] client = hmac(salted, "Client Key");
    byte[] signature = hmac(sha256(client), bare + "," + asked + "," + unsigned);
    byte[] proof = client.clone();
    for (int i = 0; i < proof.length; i++) {
      proof[i] ^= signature[i];
    }
    String right = Base64.getEncoder().encodeToString(proof);
    byte[] flipped = proof.clone();
    flipped[random.nextInt(flipped.length)] ^= (byte) (1 << random.nextInt(8));
    String shown =
        odd(
            changes,
            right,
            right,
            Base64.getEncoder().encodeToString(flipped),
            Base64.getEncoder().encodeToString(new byte[32]),
            Base64.getEncoder().encodeToString(Arrays.copyOf(proof, 31)),
            Base64.getEncoder().encodeToString(Arrays.copyOf(proof, 33)),
            Base64.getEncoder().encodeToString(signature),
            "",
            "=",
            right.replace("=", ""),
            right + "\n",
            right + ",x=y",
            right.substring(1));
    return odd(
        changes,
        unsigned + ",p=" + shown,
        unsigned + ",p=" + shown,
        unsigned,
        unsigned + ",P=" + shown,
        "p=" + shown + "," + unsigned,
        unsigned + ",p=" + shown + ",p=" + shown,
        unsigned + ",p=" + shown + ",");
  }

  private String bound(String header) {
    byte[] head = header.getBytes(UTF_8);
    byte[] data = binding != null && header.startsWith(END_POINT) ? binding : new byte[0];
    byte[] all = Arrays.copyOf(head, head.length + data.length);
    System.arraycopy(data, 0, all, head.length, data.length);
    return Base64.getEncoder().encodeToString(all);
  }

  private static byte[] salted(String password, String salt, int iterations) {
    return SALTED.computeIfAbsent(
        password + ' ' + salt + ' ' + iterations,
        key -> {
          try {
            PBEKeySpec spec =
                new PBEKeySpec(
                    password.toCharArray(), Base64.getDecoder().decode(salt), iterations, 256);
            return SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256")
                .generateSecret(spec)
                .getEncoded();
          } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
          }
        });
  }

  private static byte[] hmac(byte[] key, String text) throws GeneralSecurityException {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
    return mac.doFinal(text.getBytes(UTF_8));
  }

  private static byte[] sha256(byte[] bytes) throws GeneralSecurityException {
    return MessageDigest.getInstance("SHA-256").digest(bytes);
  }

  /**
   * The user whom the node may take the client for after these messages, or null: the user has the
   * password, the proof is for these messages and this channel, and nobody has hidden that the node
   * could have been bound to the channel.
   */
  @Nullable String proven(byte[] challenge, String last) throws GeneralSecurityException {
    String asked = new String(challenge, UTF_8);
    String[] parts = asked.split(",", -1);
    boolean plus = mechanism.equals("SCRAM-SHA-256-PLUS");
    boolean flagFits =
        plus
            ? binding != null && header.startsWith(END_POINT + ",")
            : mechanism.equals("SCRAM-SHA-256")
                && (header.startsWith("n,") || (header.startsWith("y,") && binding == null));
    int proofAt = last.lastIndexOf(",p=");
    String[] names = bare.split(",", -1);
    if (!flagFits || proofAt < 0 || !names[0].startsWith("n=")) {
      return null;
    }
    String user = names[0].substring(2).toUpperCase(Locale.ROOT);
    String known = passwords.get(user);
    String unsigned = last.substring(0, proofAt);
    String[] attributes = unsigned.split(",", -1);
    boolean fits =
        attributes.length >= 2
            && attributes[0].equals("c=" + bound(header))
            && attributes[1].equals(parts[0]);
    boolean itself =
        header.split(",", -1)[1].isEmpty()
            || header.split(",", -1)[1].substring(2).toUpperCase(Locale.ROOT).equals(user);
    if (known == null || !fits || !itself) {
      return null;
    }
    byte[] salted = salted(known, parts[1].substring(2), Integer.parseInt(parts[2].substring(2)));
    byte[] client = hmac(salted, "Client Key");
    byte[] signature = hmac(sha256(client), bare + "," + asked + "," + unsigned);
    for (int i = 0; i < client.length; i++) {
      client[i] ^= signature[i];
    }
    return last.substring(proofAt + 3).equals(Base64.getEncoder().encodeToString(client))
        ? user
        : null;
  }
}
