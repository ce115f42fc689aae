package dev.tollgate.node;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.ECGenParameterSpec;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Tokens of an issuer and of others, right ones and forged ones, written as texts: no library
 * stands between the test and the bytes. It knows of each for which users it may stand. What is not
 * signed by the issuer stands for nobody.
 */
final class FuzzedTokens {
  static final String ISSUER = "https://id.example.org/";
  static final String AUDIENCE = "tollgate";

  /**
   * A token.
   *
   * @param users for whom it may stand, as the cluster spells them; empty for a token that has to
   *     be refused
   * @param isRight whether it has to be taken
   * @param kind for messages
   */
  record Token(String text, Set<String> users, boolean isRight, String kind) {
    /** All but the signature, which may be written in several ways. */
    String signed() {
      return text.substring(0, Math.max(0, text.lastIndexOf('.')));
    }
  }

  /** The keys of an issuer, and one of somebody else. */
  static final class Keys {
    private final KeyPair ec = ec();
    private final KeyPair rsa = rsa();
    private final KeyPair forged = ec();

    Keys() throws GeneralSecurityException {}

    private static KeyPair ec() throws GeneralSecurityException {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(new ECGenParameterSpec("secp256r1"));
      return generator.generateKeyPair();
    }

    private static KeyPair rsa() throws GeneralSecurityException {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
      generator.initialize(2_048);
      return generator.generateKeyPair();
    }

    /** The public keys, k1 and k2. */
    String jwks() {
      return "{\"keys\":[" + jwk(ec, "k1") + "," + rsaJwk() + "]}";
    }

    private static String jwk(KeyPair pair, String id) {
      ECPublicKey key = (ECPublicKey) pair.getPublic();
      return "{\"kty\":\"EC\",\"crv\":\"P-256\",\"use\":\"sig\",\"kid\":\""
          + id
          + "\",\"x\":\""
          + number(key.getW().getAffineX(), 32)
          + "\",\"y\":\""
          + number(key.getW().getAffineY(), 32)
          + "\"}";
    }

    private String rsaJwk() {
      RSAPublicKey key = (RSAPublicKey) rsa.getPublic();
      return "{\"kty\":\"RSA\",\"kid\":\"k2\",\"n\":\""
          + number(key.getModulus(), 256)
          + "\",\"e\":\"AQAB\"}";
    }

    private static String number(BigInteger number, int bytes) {
      byte[] all = number.toByteArray();
      byte[] fixed = new byte[bytes];
      int from = Math.max(0, all.length - bytes);
      System.arraycopy(all, from, fixed, bytes - (all.length - from), all.length - from);
      return base64(fixed);
    }
  }

  /** Claims that the issuer has signed and that make no login: each takes the place of its name. */
  private static final List<String> BAD_CLAIMS =
      List.of(
          "iss",
          "\"iss\":\"https://id.example.org\"",
          "\"iss\":\"HTTPS://id.example.org/\"",
          "\"iss\":[\"https://id.example.org/\"]",
          "\"iss\":null",
          "\"iss\":1",
          "aud",
          "\"aud\":\"other\"",
          "\"aud\":\"Tollgate\"",
          "\"aud\":\"tollgate \"",
          "\"aud\":\"tollgate,other\"",
          "\"aud\":[]",
          "\"aud\":[\"other\"]",
          "\"aud\":[[\"tollgate\"]]",
          "\"aud\":{\"tollgate\":true}",
          "\"aud\":1",
          "\"aud\":null",
          "exp",
          "\"exp\":0",
          "\"exp\":-1",
          "\"exp\":1700000000",
          "\"exp\":null",
          "\"exp\":true",
          "\"exp\":[9999999999]",
          "\"exp\":\"never\"",
          "\"exp\":-9223372036854775808",
          "\"nbf\":9999999999",
          "\"sub\":\"\"",
          "\"sub\":null",
          "\"sub\":[\"ada\"]",
          "\"sub\":{\"ada\":1}",
          "sub",
          "\"sub\":\"\\ud83d\"",
          "\"sub\":\"b\u0131ll\u0131ng\"",
          "\"sub\":\"b\u0130lling\"",
          "\"sub\":\"\uff41da\"",
          "\"cnf\":{\"jkt\":\"x\"}");

  /** Users that are not, or may not log in by token: the issuer may name them. */
  private static final List<String> OTHER_USERS =
      List.of(
          "\"sub\":\"nobody\"",
          "\"sub\":\"root\"",
          "\"sub\":\"mo\"",
          "\"sub\":\"closed\"",
          "\"sub\":\" ada\"",
          "\"sub\":\"ada \"",
          "\"sub\":\"ada\\u0000\"",
          "\"sub\":\"ada\u0301\"",
          "\"sub\":\"'ADA'\"",
          "\"sub\":\"\\\"ADA\\\"\"",
          // a number counts as its digits
          "\"sub\":7");

  /** Claims of which readers may think what they like, for the user of the token alone. */
  private static final List<String> ODD_CLAIMS =
      List.of(
          "\"exp\":9223372036854775807",
          "\"exp\":9999999999999999999999",
          "\"exp\":1e400",
          "\"exp\":1e20",
          "\"exp\":1e1000000000",
          "\"exp\":9999999999.5",
          "\"exp\":\"9999999999\"",
          "\"nbf\":-9223372036854775808",
          "\"nbf\":\"1\"",
          "\"nbf\":1e400",
          "\"iat\":9999999999",
          "\"iat\":\"x\"",
          "\"aud\":[\"tollgate\",1]",
          "\"aud\":[null,\"tollgate\"]",
          "\"cnf\":null",
          "\"jti\":7",
          "\"x\":" + "[".repeat(3_000) + "]".repeat(3_000),
          "\"x\":1e999999999",
          "\"x\":" + "9".repeat(6_000),
          "\"x\":\"" + "\\u0000".repeat(1_000) + "\"");

  /** Headers that no token of this issuer has, whoever signs. */
  private static final List<String> BAD_HEADERS =
      List.of(
          "\"crit\":[\"exp\"]",
          "\"crit\":[\"b64\"],\"b64\":false",
          "\"crit\":[\"x\"],\"x\":1",
          "\"typ\":\"secevent+jwt\"",
          "\"typ\":\"dpop+jwt\"",
          "\"typ\":\"logout+jwt\"");

  /** Headers by which an attacker would like to have its own key taken. */
  private static final List<String> KEY_HEADERS =
      List.of(
          "\"kid\":\"k3\"",
          "\"kid\":\"\"",
          "\"kid\":null",
          "\"kid\":1",
          "\"kid\":[\"k1\"]",
          "\"kid\":\"../../../../dev/null\"",
          "\"kid\":\"k1' OR '1'='1\"",
          "\"kid\":\"k1\\u0000\"",
          "\"kid\":\"" + "k".repeat(4_000) + "\"",
          "\"kid\":\"http://127.0.0.1:1/\"",
          "\"kid\":\"k1\",\"jku\":\"http://127.0.0.1:1/keys\"",
          "\"kid\":\"k1\",\"x5u\":\"http://127.0.0.1:1/c.pem\"",
          "\"kid\":\"k1\",\"x5c\":[\"AAAA\"]",
          "\"kid\":\"k1\",\"x5t#S256\":\"AAAA\"",
          "\"jku\":\"file:///etc/passwd\"");

  private static final List<String> NONE =
      List.of("none", "None", "NONE", "nOnE", "none ", "\\u006eone", "", "null", "ES256\\u0000");

  private static final List<String> PATHOLOGICAL =
      List.of(
          "[".repeat(8_000),
          "{\"a\":".repeat(1_800),
          "{\"alg\":\"ES256\",\"kid\":\"k1\",\"x\":1e999999999}",
          "{\"alg\":\"ES256\",\"kid\":\"k1\",\"x\":" + "9".repeat(8_000) + "}",
          "{\"alg\":\"ES256\",\"alg\":\"none\"}",
          "{\"alg\":[\"ES256\"]}",
          "{\"alg\":{}}",
          "{\"alg\":1}",
          "{\"alg\":\"ES256\"",
          "{}",
          "null",
          "\"ES256\"",
          "",
          " ",
          "{\"alg\":\"dir\",\"enc\":\"A256GCM\"}",
          "{\"alg\":\"RSA-OAEP\",\"enc\":\"A256GCM\",\"zip\":\"DEF\"}",
          "{\"alg\":\"PBES2-HS256+A128KW\",\"enc\":\"A128CBC-HS256\",\"p2c\":2147483647,\"p2s\":\"AA\"}");

  private final Random random;
  private final FuzzedMessages messages;
  private final Keys keys;

  FuzzedTokens(Random random, Keys keys) {
    this.random = random;
    this.messages = new FuzzedMessages(random);
    this.keys = keys;
  }

  private <T> T one(List<T> from) {
    return from.get(random.nextInt(from.size()));
  }

  private static String base64(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  private static String base64(String text) {
    return base64(text.getBytes(UTF_8));
  }

  private static String claims(String... others) {
    Map<String, String> claims = new HashMap<>();
    claims.put("iss", "\"iss\":\"" + ISSUER + "\"");
    claims.put("aud", "\"aud\":\"" + AUDIENCE + "\"");
    claims.put("exp", "\"exp\":" + Instant.now().plusSeconds(3_000).getEpochSecond());
    claims.put("sub", "\"sub\":\"ada\"");
    for (String other : others) {
      String name = other.split("\"", 3).length > 1 ? other.split("\"", 3)[1] : other;
      if (other.startsWith("\"")) {
        claims.put(name, other);
      } else {
        claims.remove(name);
      }
    }
    return "{" + String.join(",", claims.values()) + "}";
  }

  private static String header(String algorithm, String more) {
    return "{\"alg\":\"" + algorithm + "\"" + (more.isEmpty() ? "" : "," + more) + "}";
  }

  private static byte[] sign(String algorithm, PrivateKey key, String input) {
    try {
      Signature signature = Signature.getInstance(algorithm);
      signature.initSign(key);
      signature.update(input.getBytes(StandardCharsets.US_ASCII));
      return signature.sign();
    } catch (GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }

  private byte[] byEc(String input) {
    return sign("SHA256withECDSAinP1363Format", keys.ec.getPrivate(), input);
  }

  private byte[] forged(String input) {
    return sign("SHA256withECDSAinP1363Format", keys.forged.getPrivate(), input);
  }

  private byte[] byRsa(String input) {
    return sign("SHA256withRSA", keys.rsa.getPrivate(), input);
  }

  private static String joined(String input, byte[] signature) {
    return input + "." + base64(signature);
  }

  private Token signed(String more, String claims, Set<String> users, boolean right, String kind) {
    if (random.nextBoolean()) {
      String input = base64(header("ES256", with("\"kid\":\"k1\"", more))) + "." + base64(claims);
      return new Token(joined(input, byEc(input)), users, right, kind);
    }
    String input = base64(header("RS256", with("\"kid\":\"k2\"", more))) + "." + base64(claims);
    return new Token(joined(input, byRsa(input)), users, right, kind);
  }

  private static String with(String first, String more) {
    return more.isEmpty() ? first : first + "," + more;
  }

  private static Token forgery(String text, String kind) {
    return new Token(text, Set.of(), false, kind);
  }

  /** A token that has to be taken. */
  Token right() {
    String name = one(List.of("ada", "Ada", "ADA", "billing"));
    String more = one(List.of("", "\"typ\":\"JWT\"", "\"typ\":\"at+jwt\"", "\"x\":[1]"));
    String claims =
        claims(
            "\"sub\":\"" + name + "\"",
            one(
                List.of(
                    "\"jti\":\"" + random.nextInt() + "\"",
                    "\"aud\":[\"x\",\"tollgate\"]",
                    "\"nbf\":1",
                    "\"x\":{\"y\":[null]}")));
    return signed(more, claims, Set.of(name.toUpperCase(Locale.ROOT)), true, "right");
  }

  /** Each token that no check of signature, header and claims lets pass, whatever the seed. */
  List<Token> forgeries() {
    List<Token> all = new ArrayList<>();
    for (String claim : BAD_CLAIMS) {
      all.add(signed("", claims(claim), Set.of(), false, "bad claim"));
    }
    for (String claim : OTHER_USERS) {
      all.add(joinedForgery(header("ES256", "\"kid\":\"k1\""), claims(claim)));
    }
    for (String header : BAD_HEADERS) {
      all.add(signed(header, claims(), Set.of(), false, "bad header"));
    }
    for (String header : KEY_HEADERS) {
      all.add(joinedForgery(header("ES256", header), claims()));
    }
    for (String algorithm : NONE) {
      all.add(
          forgery(base64(header(algorithm, "")) + "." + base64(claims()) + ".", "no algorithm"));
      all.add(joinedForgery(header(algorithm, "\"kid\":\"k1\""), claims()));
    }
    for (String header : PATHOLOGICAL) {
      all.add(joinedForgery(header, claims()));
    }
    for (int i = 0; i < 200; i++) {
      all.add(secret());
      all.add(badSignature());
      all.add(otherContent());
      all.add(otherForm());
    }
    return all;
  }

  private Token joinedForgery(String header, String claims) {
    String input = base64(header) + "." + base64(claims);
    return forgery(joined(input, forged(input)), "forged");
  }

  Token next() {
    return switch (random.nextInt(14)) {
      case 0, 1 -> right();
      case 2 ->
          signed(
              "",
              claims(one(random.nextInt(5) == 0 ? OTHER_USERS : BAD_CLAIMS)),
              Set.of(),
              false,
              "bad claim");
      case 3 -> signed("", claims(one(ODD_CLAIMS)), Set.of("ADA"), false, "odd claim");
      case 4 -> twice();
      case 5 -> none();
      case 6 -> secret();
      case 7 -> badSignature();
      case 8 -> otherContent();
      case 9 -> signed(one(BAD_HEADERS), claims(), Set.of(), false, "bad header");
      case 10 -> keyOfAnAttacker();
      case 11 -> pathological();
      case 12 -> otherForm();
      default -> mutated();
    };
  }

  /** A claim twice: whichever counts, the issuer has signed both. */
  private Token twice() {
    String claims = claims();
    String more =
        one(
            List.of(
                "\"sub\":\"billing\"",
                "\"exp\":1",
                "\"aud\":\"other\"",
                "\"iss\":\"https://evil.example/\"",
                "\"nbf\":9999999999"));
    String text =
        random.nextBoolean()
            ? "{" + more + "," + claims.substring(1)
            : claims.replace("}", "," + more + "}");
    return signed("", text, Set.of("ADA", "BILLING"), false, "claim twice");
  }

  private Token none() {
    String input =
        base64(header(one(NONE), one(List.of("", "\"kid\":\"k1\"")))) + "." + base64(claims());
    String signature = one(List.of("", base64("x"), base64(forged(input))));
    return forgery(input + "." + signature, "no algorithm");
  }

  /** A signature with what everybody knows. */
  private Token secret() {
    List<byte[]> known =
        List.of(
            keys.ec.getPublic().getEncoded(),
            keys.rsa.getPublic().getEncoded(),
            Keys.jwk(keys.ec, "k1").getBytes(UTF_8),
            ("-----BEGIN PUBLIC KEY-----\n"
                    + Base64.getMimeEncoder(64, new byte[] {'\n'})
                        .encodeToString(keys.rsa.getPublic().getEncoded())
                    + "\n-----END PUBLIC KEY-----\n")
                .getBytes(UTF_8),
            new byte[] {0});
    String input =
        base64(header("HS256", "\"kid\":\"" + one(List.of("k1", "k2")) + "\""))
            + "."
            + base64(claims());
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(one(known), "HmacSHA256"));
      return forgery(joined(input, mac.doFinal(input.getBytes(UTF_8))), "HMAC with a public key");
    } catch (GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }

  private Token badSignature() {
    String algorithm = one(List.of("ES256", "RS256", "PS256", "ES384", "ES512", "ES256K", "EdDSA"));
    String input =
        base64(header(algorithm, one(List.of("", "\"kid\":\"k1\"", "\"kid\":\"k2\""))))
            + "."
            + base64(claims());
    byte[] n = new byte[64];
    Arrays.fill(n, (byte) 0xff);
    byte[] signature =
        switch (random.nextInt(9)) {
          case 0 -> new byte[64];
          case 1 -> n;
          case 2 -> new byte[0];
          case 3 -> forged(input);
          case 4 -> new byte[256];
          case 5 -> Arrays.copyOf(byEc(input + "x"), 64);
          case 6 -> byRsa(input + "x");
          case 7 -> new byte[] {0x30, 6, 2, 1, 0, 2, 1, 0};
          default -> {
            byte[] right = algorithm.equals("RS256") ? byRsa(input) : byEc(input);
            right[random.nextInt(right.length)] ^= (byte) (1 << random.nextInt(8));
            yield right;
          }
        };
    return forgery(joined(input, signature), "bad signature");
  }

  /** The header or the claims are others than those that were signed. */
  private Token otherContent() {
    String[] parts = right().text().split("\\.", -1);
    String other = base64(claims("\"sub\":\"billing\"", "\"jti\":\"forged\""));
    return forgery(
        random.nextBoolean()
            ? parts[0] + "." + other + "." + parts[2]
            : base64(header("ES256", "\"kid\":\"k1\",\"y\":1")) + "." + parts[1] + "." + parts[2],
        "other content");
  }

  private Token keyOfAnAttacker() {
    String more =
        random.nextInt(4) == 0
            ? "\"jwk\":" + Keys.jwk(keys.forged, one(List.of("k1", "k9")))
            : one(KEY_HEADERS);
    String input = base64(header("ES256", more)) + "." + base64(claims());
    return forgery(joined(input, forged(input)), "key of an attacker");
  }

  private Token pathological() {
    String input = base64(one(PATHOLOGICAL)) + "." + base64(claims());
    return forgery(
        one(
            List.of(
                joined(input, forged(input)),
                input + ".",
                input + "..." + base64("tag"),
                base64(one(PATHOLOGICAL)) + "." + base64(one(PATHOLOGICAL)) + "." + base64("x"))),
        "strange header");
  }

  private Token otherForm() {
    String right = right().text();
    String[] parts = right.split("\\.", -1);
    String text =
        switch (random.nextInt(10)) {
          case 0 -> parts[0] + "." + parts[1];
          case 1 -> right + "." + parts[2];
          case 2 -> "." + right;
          case 3 -> parts[1] + "." + parts[0] + "." + parts[2];
          case 4 -> parts[0] + "=." + parts[1] + "=." + parts[2];
          case 5 -> parts[0] + "A." + parts[1] + "." + parts[2];
          case 6 -> ".".repeat(1 + random.nextInt(12_000));
          case 7 -> "A".repeat(1 + random.nextInt(13_000));
          case 8 -> parts[0] + ".." + parts[2];
          default -> {
            String input = base64(header("ES256", "\"cty\":\"JWT\"")) + "." + base64(right);
            yield joined(input, forged(input));
          }
        };
    return forgery(text, "other form");
  }

  /** Bytes of a right token that were changed: it is as good as before if its signed part is. */
  private Token mutated() {
    Token right = right();
    byte[] changed = messages.mutated(right.text().getBytes(UTF_8));
    String text = new String(changed, StandardCharsets.ISO_8859_1);
    boolean same = text.startsWith(right.signed() + ".");
    return new Token(text, same ? right.users() : Set.of(), false, "mutated");
  }
}
