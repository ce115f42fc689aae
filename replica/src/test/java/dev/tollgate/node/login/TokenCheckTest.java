package dev.tollgate.node.login;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyOperation;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.OctetSequenceKey;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import dev.tollgate.tls.TestCertificates;
import dev.tollgate.tls.TlsCredentials;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Base64;
import java.util.Date;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Which tokens stand for which users, with the keys of the issuer in a file. */
@Timeout(120)
class TokenCheckTest {
  private static final Instant NOW = Instant.parse("2026-11-27T12:00:00Z");
  private static final String ISSUER = "https://id.example.org/";
  private static RSAKey rsa;
  private static ECKey ec;
  private static RSAKey stranger;

  @TempDir private Path directory;
  private final TestCertificates.Events files = new TestCertificates.Events();
  private TokenCheck check;

  @BeforeAll
  static void makeKeys() throws Exception {
    rsa = new RSAKeyGenerator(2_048).keyID("r").generate();
    ec = new ECKeyGenerator(Curve.P_256).keyID("e").generate();
    stranger = new RSAKeyGenerator(2_048).keyID("r").generate();
  }

  @BeforeEach
  void start() throws Exception {
    write(rsa, ec);
    check = open(null, "sub");
  }

  @AfterEach
  void stop() {
    check.close();
  }

  private Path keys() {
    return directory.resolve("keys.json");
  }

  private void write(JWK... keys) throws IOException {
    Files.writeString(keys(), new JWKSet(List.of(keys)).toString(/* publicKeysOnly= */ false));
  }

  private TokenCheck open(@Nullable Path users, String claim) throws IOException {
    return TokenCheck.of(
        new TokenSettings(
            ISSUER, "tollgate", keys().toUri(), null, claim, users, Duration.ofSeconds(60), true),
        Clock.fixed(NOW, ZoneOffset.UTC),
        System::nanoTime,
        files);
  }

  private static JWTClaimsSet.Builder claims() {
    return new JWTClaimsSet.Builder()
        .issuer(ISSUER)
        .audience(List.of("other", "tollgate"))
        .subject("billing")
        .expirationTime(Date.from(NOW.plusSeconds(300)));
  }

  private static String signed(JWTClaimsSet claims) throws Exception {
    return signed(new JWSHeader.Builder(JWSAlgorithm.RS256).keyID("r").build(), claims, rsa);
  }

  private static String signed(JWSHeader header, JWTClaimsSet claims, RSAKey key) throws Exception {
    SignedJWT jwt = new SignedJWT(header, claims);
    jwt.sign(new RSASSASigner(key));
    return jwt.serialize();
  }

  private TokenCheck.Verdict verdict(String token) throws Exception {
    CompletableFuture<TokenCheck.Verdict> answer = new CompletableFuture<>();
    check.check(token, () -> true, answer::complete);
    return answer.get(30, TimeUnit.SECONDS);
  }

  private void assertRefused(String why, String token) throws Exception {
    TokenCheck.Verdict verdict = verdict(token);
    assertNull(verdict.user());
    assertTrue(String.valueOf(verdict.refusal()).contains(why), String.valueOf(verdict.refusal()));
  }

  private void assertRefused(String why, UnaryOperator<JWTClaimsSet.Builder> change)
      throws Exception {
    assertRefused(why, signed(change.apply(claims()).build()));
  }

  @Test
  void tokenOfTheIssuerStandsForItsSubjectUntilItsEnd() throws Exception {
    TokenCheck.Verdict verdict = verdict(signed(claims().build()));
    assertEquals("BILLING", verdict.user());
    assertEquals(NOW.plusSeconds(360), verdict.until());
    SignedJWT elliptic =
        new SignedJWT(
            new JWSHeader.Builder(JWSAlgorithm.ES256).type(new JOSEObjectType("at+jwt")).build(),
            claims().build());
    elliptic.sign(new ECDSASigner(ec));
    assertEquals("BILLING", verdict(elliptic.serialize()).user());
  }

  @Test
  void tokenHasOneText() throws Exception {
    String token = signed(claims().build());
    assertNotNull(verdict(token).user());
    assertNull(verdict(token + "=").user());
    char last = token.charAt(token.length() - 1);
    // 256 bytes leave two bits of the last character without a meaning
    assertNull(verdict(token.substring(0, token.length() - 1) + (char) (last + 1)).user());
  }

  @Test
  void claimsAreChecked() throws Exception {
    assertRefused("issuer", claims -> claims.issuer("https://id.example.org"));
    assertRefused("issuer", claims -> claims.issuer(null));
    assertRefused("audience", claims -> claims.audience("Tollgate"));
    assertRefused("audience", claims -> claims.audience((String) null));
    assertRefused("no end", claims -> claims.expirationTime(null));
    assertRefused("expired", claims -> claims.expirationTime(Date.from(NOW.minusSeconds(60))));
    assertRefused("not valid yet", claims -> claims.notBeforeTime(Date.from(NOW.plusSeconds(61))));
    assertRefused("no user", claims -> claims.subject(null));
    assertRefused("no user", claims -> claims.subject("adm\u0131n"));
    assertRefused("no user", claims -> claims.subject(""));
    assertRefused("bound to a key", claims -> claims.claim("cnf", List.of("x")));
    assertRefused("bound to a key", claims -> claims.claim("cnf", null).serializeNullClaims(true));
    assertNotNull(
        verdict(
                signed(
                    claims()
                        .expirationTime(Date.from(NOW.minusSeconds(59)))
                        .notBeforeTime(Date.from(NOW.plusSeconds(60)))
                        .build()))
            .user());
  }

  /** Milliseconds of such a number are another time, which may be now. */
  @Test
  void numbersThatAreNoTimesAreRefused() throws Exception {
    for (String name : List.of("exp", "nbf", "iat")) {
      for (Number wrong :
          List.of(
              253_402_300_800L,
              Long.MAX_VALUE,
              Long.MIN_VALUE,
              -1L,
              Long.MAX_VALUE / 500 + NOW.getEpochSecond(),
              1e300)) {
        assertRefused("claim " + name + " is no time", claims -> claims.claim(name, wrong));
      }
    }
    assertNotNull(verdict(signed(claims().claim("exp", 253_402_300_799L).build())).user());
  }

  @Test
  void onlySignaturesOfTheIssuerCount() throws Exception {
    JWSHeader header = new JWSHeader.Builder(JWSAlgorithm.RS256).keyID("r").build();
    assertRefused("signature", signed(header, claims().build(), stranger));
    assertRefused(
        "a key that the issuer does not have",
        signed(
            new JWSHeader.Builder(JWSAlgorithm.RS256).keyID("x").build(),
            claims().build(),
            stranger));
    assertRefused("no signed JWT", new PlainJWT(claims().build()).serialize());
    // the public key as a secret, which is the usual mistake of checks
    SignedJWT mac =
        new SignedJWT(
            new JWSHeader.Builder(JWSAlgorithm.HS256).keyID("r").build(), claims().build());
    mac.sign(new MACSigner(rsa.toRSAPublicKey().getEncoded()));
    assertRefused("signed in a way", mac.serialize());
    // a key that the token brings along
    assertRefused(
        "signature",
        signed(
            new JWSHeader.Builder(JWSAlgorithm.RS256)
                .keyID("r")
                .jwk(stranger.toPublicJWK())
                .build(),
            claims().build(),
            stranger));
    assertRefused(
        "demands",
        signed(
            new JWSHeader.Builder(JWSAlgorithm.RS256)
                .keyID("r")
                .criticalParams(Set.of("b64x"))
                .build(),
            claims().build(),
            rsa));
    assertRefused(
        "something else",
        signed(
            new JWSHeader.Builder(JWSAlgorithm.RS256)
                .keyID("r")
                .type(new JOSEObjectType("logout+jwt"))
                .build(),
            claims().build(),
            rsa));
  }

  @Test
  void mapSaysWhichUserAClaimIsFor() throws Exception {
    Path map = directory.resolve("map");
    Files.writeString(map, "jo@example.org  JO\n\"a b\" mo # of accounting\njo@example.org mo\n");
    check.close();
    check = open(map, "email");
    assertEquals("JO", verdict(signed(claims().claim("email", "jo@example.org").build())).user());
    assertEquals("MO", verdict(signed(claims().claim("email", "a b").build())).user());
    assertRefused("no user", claims -> claims.claim("email", "JO@example.org"));
    assertRefused("no user", claims -> claims.claim("email", List.of("jo@example.org")));
    assertRefused("no user", claims -> claims);
    Files.writeString(map, "jo@example.org \"x\" y");
    assertThrows(IOException.class, () -> open(map, "email"));
  }

  @Test
  void keysAreReadAgain() throws Exception {
    write(stranger);
    JWSHeader header = new JWSHeader.Builder(JWSAlgorithm.RS256).keyID("r").build();
    assertRefused("signature", signed(header, claims().build(), stranger));
    check.refresh();
    assertEquals("BILLING", verdict(signed(header, claims().build(), stranger)).user());
    Files.writeString(keys(), "{\"keys\":[]}");
    check.refresh();
    assertEquals("BILLING", verdict(signed(header, claims().build(), stranger)).user());
    assertEquals(1, files.failed.size(), files.failed.toString());
  }

  @Test
  void keysThatSignNothingAreNone() throws Exception {
    write(new OctetSequenceKey.Builder(new byte[32]).keyID("r").build());
    assertThrows(IOException.class, () -> open(null, "sub"));
    write(new RSAKeyGenerator(1_024, true).keyID("r").generate());
    assertThrows(IOException.class, () -> open(null, "sub"));
    Files.writeString(keys(), "[".repeat(100_000));
    assertThrows(IOException.class, () -> open(null, "sub"));
    Files.writeString(keys(), " ".repeat(300_000));
    assertThrows(IOException.class, () -> open(null, "sub"));
  }

  /** An issuer may publish keys with which others encrypt, or that only some may use. */
  @Test
  void keysForSomethingElseVerifyNothing() throws Exception {
    RSAKey.Builder key = new RSAKey.Builder(rsa.toRSAPublicKey()).keyID("r");
    List<JWK> others =
        List.of(
            key.keyUse(KeyUse.ENCRYPTION).build(),
            key.keyUse(null).keyOperations(Set.of(KeyOperation.ENCRYPT)).build(),
            key.keyOperations(Set.of(KeyOperation.WRAP_KEY, KeyOperation.ENCRYPT)).build(),
            key.keyOperations(Set.of()).build());
    for (JWK other : others) {
      Files.writeString(keys(), new JWKSet(other).toString());
      IOException refused = assertThrows(IOException.class, () -> open(null, "sub"));
      assertTrue(refused.getMessage().contains("no key that signs"), refused.getMessage());
    }
    write(ec, key.keyOperations(Set.of(KeyOperation.ENCRYPT)).build());
    check.refresh();
    assertRefused("a key that the issuer does not have", signed(claims().build()));
    write(key.keyOperations(Set.of(KeyOperation.VERIFY)).build());
    check.refresh();
    assertEquals("BILLING", verdict(signed(claims().build())).user());
  }

  /** As a node in an application, which may lack the library. */
  @Test
  void withoutTheLibraryItSaysWhatToAdd() throws Exception {
    ClassLoader parent = TokenCheckTest.class.getClassLoader();
    ClassLoader poor =
        new ClassLoader(parent) {
          @Override
          protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.startsWith("com.nimbusds.")) {
              throw new ClassNotFoundException(name);
            }
            if (!name.startsWith("dev.tollgate.node.login.")) {
              return super.loadClass(name, resolve);
            }
            Class<?> loaded = findLoadedClass(name);
            return loaded == null ? define(name) : loaded;
          }

          private Class<?> define(String name) throws ClassNotFoundException {
            String file = name.replace('.', '/') + ".class";
            try (InputStream in = parent.getResourceAsStream(file)) {
              byte[] bytes = in.readAllBytes();
              return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
              throw new ClassNotFoundException(name, e);
            }
          }
        };
    Class<?> settings = poor.loadClass(TokenSettings.class.getName());
    Object made =
        settings.getConstructors()[0].newInstance(
            ISSUER, "tollgate", keys().toUri(), null, "sub", null, Duration.ZERO, true);
    Method open =
        settings.getMethod("open", Clock.class, LongSupplier.class, TlsCredentials.Listener.class);
    LongSupplier nanos = System::nanoTime;
    InvocationTargetException refused =
        assertThrows(
            InvocationTargetException.class,
            () -> open.invoke(made, Clock.systemUTC(), nanos, files));
    IOException why = assertInstanceOf(IOException.class, refused.getCause());
    assertTrue(why.getMessage().contains("nimbus-jose-jwt"), why.getMessage());
    // what is there without tokens needs no library
    Class.forName(LoginMethods.class.getName(), true, poor).getField("STANDARD").get(null);
  }

  /** Whatever is changed, a token that was changed is refused, and the check goes on. */
  @Test
  void changedTokensAreRefused() throws Exception {
    long seed = Long.getLong("tollgate.seed", System.nanoTime());
    Random random = new Random(seed);
    String token = signed(claims().build());
    String alphabet = "AZaz09-_.=";
    for (int i = 0; i < Integer.getInteger("tollgate.logins", 500); i++) {
      StringBuilder changed = new StringBuilder(token);
      int at = random.nextInt(token.length());
      switch (random.nextInt(3)) {
        case 0 -> changed.setCharAt(at, alphabet.charAt(random.nextInt(alphabet.length())));
        case 1 -> changed.deleteCharAt(at);
        default -> changed.insert(at, alphabet.charAt(random.nextInt(alphabet.length())));
      }
      String user = verdict(changed.toString()).user();
      // the last character of base64url has bits that nobody reads
      assertTrue(
          user == null || sameBytes(token, changed.toString()), "seed " + seed + ": " + changed);
    }
    assertEquals("BILLING", verdict(token).user());
    for (String odd : List.of("", ".", "..", "a.b.c", "e30.e30.", "e30..")) {
      assertRefused("no signed JWT", odd);
    }
    String deep = base64("{\"alg\":\"RS256\",\"x\":" + "[".repeat(4_000) + "]".repeat(4_000) + "}");
    assertNull(verdict(deep + ".e30.AAAA").user());
  }

  private static String base64(String text) {
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  private static boolean sameBytes(String token, String changed) throws Exception {
    SignedJWT one = SignedJWT.parse(token);
    SignedJWT other = SignedJWT.parse(changed);
    return one.getSignature().decodeToString().equals(other.getSignature().decodeToString())
        && one.getPayload().toString().equals(other.getPayload().toString());
  }
}
