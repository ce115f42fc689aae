package dev.tollgate.wire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The exchange of RFC 7677, section 3, and what becomes of it when a field is changed. */
class ScramTest {
  private static final String CLIENT_NONCE = "rOprNGfwEbeRWgbNEkqO";
  private static final String SERVER_NONCE = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
  private static final byte[] SALT = Base64.getDecoder().decode("W22ZaJ0SNY7soEsUEjb6gQ==");
  private static final String CLIENT_FIRST = "n,,n=user,r=" + CLIENT_NONCE;
  private static final String SERVER_FIRST =
      "r=" + CLIENT_NONCE + SERVER_NONCE + ",s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
  private static final String CLIENT_FINAL =
      "c=biws,r=" + CLIENT_NONCE + SERVER_NONCE + ",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
  private static final String SERVER_FINAL = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";
  private static final PasswordVerifier PENCIL = PasswordVerifier.of("pencil", SALT, 4096);
  private static final PasswordVerifier PEN = PENCIL.beside("pen");
  private static final byte[] CERTIFICATE = {1, 2, 3};
  private static final ScramBinding NO_TLS = ScramBinding.choose(null, List.of());

  private static ScramServer server(String clientFirst) throws ScramException {
    return new ScramServer(ScramBinding.PLAIN, null, clientFirst.getBytes(UTF_8), SERVER_NONCE);
  }

  private static byte[] answer(String clientFirst, String clientFinal, PasswordVerifier... known)
      throws ScramException {
    ScramServer server = server(clientFirst);
    server.challenge(SALT, 4096);
    return server.verify(clientFinal.getBytes(UTF_8), List.of(known));
  }

  private static ScramClient.SaltedPassword password(String password) {
    return (salt, iterations) -> ScramKeys.saltedPassword(password, salt, iterations);
  }

  /** Both sides; the node's proof, or null if it refuses the client's. */
  private static byte[] exchange(
      ScramBinding binding, byte[] channel, String password, PasswordVerifier... verifiers)
      throws ScramException {
    ScramClient client = new ScramClient("j=o,", binding);
    ScramServer server = new ScramServer(binding.mechanism(), channel, client.first());
    assertEquals("j=o,", server.user());
    byte[] last = client.last(server.challenge(SALT, 4096), password(password));
    byte[] proof = server.verify(last, List.of(verifiers));
    if (proof != null) {
      client.requireSigned(proof);
    }
    return proof;
  }

  @Test
  void clientSaysWhatTheRfcSays() throws Exception {
    ScramClient client = new ScramClient("user", NO_TLS, CLIENT_NONCE);
    assertEquals(CLIENT_FIRST, new String(client.first(), UTF_8));
    byte[] last = client.last(SERVER_FIRST.getBytes(UTF_8), password("pencil"));
    assertEquals(CLIENT_FINAL, new String(last, UTF_8));
    client.requireSigned(SERVER_FINAL.getBytes(UTF_8));
  }

  @Test
  void nodeSaysWhatTheRfcSays() throws Exception {
    ScramServer server = server(CLIENT_FIRST);
    assertEquals("user", server.user());
    assertEquals(SERVER_FIRST, new String(server.challenge(SALT, 4096), UTF_8));
    byte[] last = server.verify(CLIENT_FINAL.getBytes(UTF_8), List.of(PENCIL));
    assertEquals(SERVER_FINAL, new String(last, UTF_8));
  }

  @Test
  void eitherOfTwoPasswordsIsRight() throws Exception {
    assertNotNull(exchange(NO_TLS, null, "pencil", PENCIL, PEN));
    assertNotNull(exchange(NO_TLS, null, "pen", PENCIL, PEN));
    assertNull(exchange(NO_TLS, null, "pe", PENCIL, PEN));
    assertNull(exchange(NO_TLS, null, "pen", PENCIL));
    assertNull(exchange(NO_TLS, null, "pen"));
  }

  @Test
  void nobodyIsNoUser() throws Exception {
    PasswordVerifier nobody = PasswordVerifier.ofNobody(SALT, 4096);
    assertNull(exchange(NO_TLS, null, "pencil", nobody));
  }

  @Test
  void boundExchangeNeedsTheSameCertificate() throws Exception {
    ScramBinding bound = ScramBinding.choose(CERTIFICATE, List.of(ScramBinding.PLUS));
    assertEquals(ScramBinding.PLUS, bound.mechanism());
    assertNotNull(exchange(bound, CERTIFICATE, "pencil", PENCIL));
    assertThrows(
        ScramException.class, () -> exchange(bound, new byte[] {1, 2, 4}, "pencil", PENCIL));
    assertThrows(ScramException.class, () -> exchange(bound, null, "pencil", PENCIL));
  }

  @Test
  void removedOfferIsNoticed() throws Exception {
    ScramBinding deceived = ScramBinding.choose(CERTIFICATE, List.of(ScramBinding.PLAIN));
    assertEquals(ScramBinding.PLAIN, deceived.mechanism());
    assertThrows(ScramException.class, () -> exchange(deceived, CERTIFICATE, "pencil", PENCIL));
    assertNotNull(exchange(deceived, null, "pencil", PENCIL));
    // a client that knows nothing of channel binding may log in without
    assertNotNull(exchange(NO_TLS, CERTIFICATE, "pencil", PENCIL));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "''",
        "n,,",
        "n,,n=user",
        "n,n=user,r=rOprNGfwEbeRWgbNEkqO",
        "x,,n=user,r=rOprNGfwEbeRWgbNEkqO",
        "y=,,n=user,r=rOprNGfwEbeRWgbNEkqO",
        "p=tls-unique,,n=user,r=rOprNGfwEbeRWgbNEkqO",
        "p=tls-server-end-point,,n=user,r=rOprNGfwEbeRWgbNEkqO",
        "n,a=root,n=user,r=rOprNGfwEbeRWgbNEkqO",
        "n,,m=ext,n=user,r=rOprNGfwEbeRWgbNEkqO",
        "n,,n=,r=rOprNGfwEbeRWgbNEkqO",
        "n,,n=us=er,r=rOprNGfwEbeRWgbNEkqO",
        "n,,n=user,r=",
        "n,,n=user,r=short",
        "n,,n=user,r=rOprNGfwEbeRWgbNEk O",
      })
  void nodeRefusesFirstMessage(String first) {
    assertThrows(ScramException.class, () -> server(first));
  }

  @Test
  void nodeRefusesWhatIsTooLongOrNoText() {
    String user = "n,,n=" + "u".repeat(256) + ",r=" + CLIENT_NONCE;
    assertThrows(ScramException.class, () -> server(user));
    assertThrows(ScramException.class, () -> server(CLIENT_FIRST + ",x=" + "x".repeat(3_000)));
    assertThrows(
        ScramException.class,
        () -> new ScramServer(ScramBinding.PLAIN, null, new byte[] {'n', ',', (byte) 0xff}));
    assertThrows(
        ScramException.class, () -> new ScramServer("PLAIN", null, CLIENT_FIRST.getBytes(UTF_8)));
  }

  @ParameterizedTest
  @CsvSource({
    // the binding, the nonce and the form are checked before the proof
    "biws, eSws",
    "c=biws, c=",
    "NEkqO%, NEkqP%",
    "hNlF$k0, hNlF$k",
    "'c=biws,r=', 'r=biws,c='",
    "'VQ=', 'VQ'",
    "'p=', 'P='",
    "'dHzbZapW', ''",
  })
  void nodeRefusesLastMessage(String part, String changed) {
    assertTrue(CLIENT_FINAL.contains(part));
    String message = CLIENT_FINAL.replace(part, changed);
    assertThrows(ScramException.class, () -> answer(CLIENT_FIRST, message, PENCIL));
  }

  @Test
  void wrongProofIsNoError() throws Exception {
    assertNull(answer(CLIENT_FIRST, CLIENT_FINAL.replace("dHzb", "eHzb"), PENCIL));
    assertNull(answer(CLIENT_FIRST, CLIENT_FINAL.replace(",p=", ",x=1,p="), PENCIL));
    assertNull(answer(CLIENT_FIRST.replace("user", "usex"), CLIENT_FINAL, PENCIL));
  }

  @Test
  void proofCountsOnce() throws Exception {
    ScramServer server = server(CLIENT_FIRST);
    byte[] last = CLIENT_FINAL.getBytes(UTF_8);
    assertThrows(ScramException.class, () -> server.verify(last, List.of(PENCIL)));
    server.challenge(SALT, 4096);
    assertNotNull(server.verify(last, List.of(PENCIL)));
    assertThrows(ScramException.class, () -> server.verify(last, List.of(PENCIL)));
  }

  @ParameterizedTest
  @CsvSource({
    "'i=4096', 'i=4095'",
    "'i=4096', 'i=1000001'",
    "'i=4096', 'i=-1'",
    "'i=4096', 'i=99999999999'",
    "'i=4096', 'i='",
    "',i=4096', ''",
    "'r=rOp', 'r=rOq'",
    "'%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0', ''",
    "'s=W22ZaJ0SNY7soEsUEjb6gQ==', 's=W22ZaJ0SNY7soEsUEjb6gQ'",
    "'s=W22ZaJ0SNY7soEsUEjb6gQ==', 's='",
    "'s=W22ZaJ0SNY7soEsUEjb6gQ==', 's=AAAA'",
    "'r=rOp', 'm=x,r=rOp'",
  })
  void clientRefusesChallenge(String part, String changed) {
    assertTrue(SERVER_FIRST.contains(part));
    ScramClient client = new ScramClient("user", NO_TLS, CLIENT_NONCE);
    byte[] challenge = SERVER_FIRST.replace(part, changed).getBytes(UTF_8);
    assertThrows(ScramException.class, () -> client.last(challenge, password("pencil")));
  }

  @ParameterizedTest
  @CsvSource({"v=6rri, v=7rri", "v=, e=other-error:", "G4=, G4", "'v=6rriTRBi23WpRR', 'v='"})
  void clientRefusesNodeThatProvesNothing(String part, String changed) throws Exception {
    assertTrue(SERVER_FINAL.contains(part));
    ScramClient client = new ScramClient("user", NO_TLS, CLIENT_NONCE);
    client.last(SERVER_FIRST.getBytes(UTF_8), password("pencil"));
    byte[] last = SERVER_FINAL.replace(part, changed).getBytes(UTF_8);
    assertThrows(ScramException.class, () -> client.requireSigned(last));
  }

  @Test
  void nodeThatProvesBeforeTheChallengeProvesNothing() {
    ScramClient client = new ScramClient("user", NO_TLS, CLIENT_NONCE);
    byte[] last = SERVER_FINAL.getBytes(UTF_8);
    assertThrows(ScramException.class, () -> client.requireSigned(last));
  }

  @Test
  void verifierIsReadAsItWasWritten() {
    String text = PENCIL.text();
    assertEquals(
        "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$"
            + "WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=",
        text);
    PasswordVerifier read = PasswordVerifier.parse(text);
    assertEquals(PENCIL, read);
    assertArrayEquals(SALT, read.salt());
    assertEquals(4096, read.iterations());
    assertFalse(PENCIL.equals(PEN));
    assertTrue(PENCIL.isBeside(PEN));
    assertFalse(PENCIL.isBeside(PasswordVerifier.of("pencil")));
    assertFalse(PENCIL.toString().contains("W22Z") || PENCIL.toString().contains("WG5d"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "SCRAM-SHA-256|SCRAM-SHA-1",
        "$4096:|$4095:",
        "$4096:|$1000001:",
        "$4096:|$9999999999:",
        "W22ZaJ0SNY7soEsUEjb6gQ==|AAAA",
        "gQ==|gQ",
        "gQ==|gR==",
        "qY=:|:",
        "qY=|qY=AAAA",
        "wfPLwcE6|",
        "dU=|'dU= '",
      })
  void whatIsNoVerifierIsRefused(String part, String changed) {
    String text = PENCIL.text();
    assertTrue(text.contains(part));
    String wrong = text.replace(part, changed == null ? "" : changed);
    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> PasswordVerifier.parse(wrong));
    assertFalse(e.getMessage().contains("W22Z"), e.getMessage());
  }

  @ParameterizedTest
  @CsvSource({
    // the examples of RFC 4013, section 3
    "I\u00adX, IX",
    "user, user",
    "USER, USER",
    "\u00aa, a",
    "\u2168, IX",
    // spaces, and what looks the same
    "a\u00a0b\u3000c, a b c",
    "A\u030a, \u00c5",
    "\u06271\u0628, \u06271\u0628",
  })
  void passwordsArePrepared(String typed, String prepared) {
    assertEquals(prepared, SaslPrep.prepare(typed));
  }

  @ParameterizedTest
  @CsvSource({
    "''",
    "\u00ad",
    "a\u0007b",
    "\u06271",
    "\u0627a\u0628",
    "a\ud800",
    "\ue000",
    "a\u200e",
    "\uffff",
  })
  void passwordsThatAreNoneAreRefused(String typed) {
    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> SaslPrep.prepare(typed));
    assertFalse(typed.length() > 1 && e.getMessage().contains(typed), e.getMessage());
  }
}
