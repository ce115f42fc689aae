package dev.tollgate.tls;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cli.certificates.TestAuthority;
import dev.tollgate.cli.certificates.TestAuthority.Issued;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is read from files, what their certificates say, and what becomes of changed files. */
class TlsFilesTest {
  private static final char[] PASSWORD = "open sesame".toCharArray();

  @TempDir Path directory;
  private TestCertificates certificates;

  @BeforeEach
  void makeAuthority() throws Exception {
    certificates = new TestCertificates(directory.resolve("ca"));
  }

  private static TlsCredentials read(TlsFiles files) throws IOException {
    return new TlsCredentials(files, TlsVersion.TLS_1_3, new TestCertificates.Events());
  }

  private static String refusal(TlsFiles files) {
    return String.valueOf(assertThrows(IOException.class, () -> read(files)).getMessage());
  }

  /** Keys that openssl has written: openssl pkcs8 -topk8 -v2 aes-256-cbc. */
  @ParameterizedTest
  @ValueSource(strings = {"ec", "rsa"})
  void encryptedKeyIsOpenedByItsPasswordAlone(String kind) throws Exception {
    Path key = directory.resolve("key");
    try (var in = TlsFilesTest.class.getResourceAsStream(kind + "-encrypted.pem")) {
      Files.write(key, in.readAllBytes());
    }
    assertEquals(kind, Pem.key(key, PASSWORD).getAlgorithm().toLowerCase(Locale.ROOT));
    IOException none = assertThrows(IOException.class, () -> Pem.key(key, null));
    assertTrue(none.getMessage().contains("is encrypted, and no password"), none.getMessage());
    IOException wrong = assertThrows(IOException.class, () -> Pem.key(key, "barley".toCharArray()));
    assertTrue(wrong.getMessage().contains("is not opened by the password"), wrong.getMessage());
    assertFalse(wrong.getMessage().contains("barley"), wrong.getMessage());
  }

  @Test
  void passwordIsTheFirstLineOfItsFile() throws Exception {
    Path password = directory.resolve("password");
    Files.writeString(password, "open sesame\nwhat follows is not part of it\n");
    assertArrayEquals(
        PASSWORD, new TlsFiles(null, null, null, null, password, null, null).readPassword());
  }

  @Test
  void keyStoreHasCertificateAndKeyAndTrust() throws Exception {
    Issued issued = certificates.authority.node("n1", List.of("127.0.0.1"), TestCertificates.now());
    Path store = directory.resolve("n1.p12");
    Path trust = directory.resolve("trust.p12");
    TestCertificates.writeStore(store, issued, certificates.authority, PASSWORD);
    certificates.writeTrustStore(trust, PASSWORD);
    TlsFiles files = new TlsFiles(null, null, store, new String(PASSWORD), null, trust, null);
    assertEquals(issued.certificate(), read(files).certificate());
    assertFalse(files.toString().contains("sesame"), files.toString());

    String wrong = refusal(new TlsFiles(null, null, store, "barley", null, trust, null));
    assertTrue(wrong.contains("n1.p12 is no PKCS#12 file that the password opens"), wrong);
    assertFalse(wrong.contains("barley"), wrong);
  }

  @Test
  void filesThatCannotBeUsedAreNamed() throws Exception {
    certificates.node("n1");
    certificates.node("n2");
    TlsFiles good = certificates.files("n1");
    assertTrue(
        refusal(
                new TlsFiles(
                    good.certificate(),
                    certificates.key("n2"),
                    null,
                    null,
                    null,
                    good.trust(),
                    null))
            .contains("do not belong together"));
    Path missing = directory.resolve("missing.crt");
    assertEquals(missing + " is not there", refusal(certificates.files("n1", missing)));
    Path old = directory.resolve("old.key");
    Files.writeString(old, Pem.block("RSA PRIVATE KEY", new byte[] {1, 2, 3}));
    assertTrue(
        refusal(new TlsFiles(good.certificate(), old, null, null, null, good.trust(), null))
            .contains("openssl pkcs8 -topk8"));
    TestCertificates other = new TestCertificates(directory.resolve("other"));
    other.revoke();
    assertTrue(
        refusal(
                new TlsFiles(
                    good.certificate(), good.key(), null, null, null, good.trust(), other.crl()))
            .contains("that no trusted CA has signed"));
  }

  @Test
  void brokenFilesKeepTheFormerCertificateAndAreReportedOnce() throws Exception {
    X509Certificate first = certificates.node("n1");
    TlsCredentials credentials = certificates.credentials("n1");
    credentials.refresh();
    assertEquals(List.of(), certificates.events.reloaded);

    String former = Files.readString(certificates.certificate("n1"));
    TestCertificates.replace(certificates.certificate("n1"), "this is no certificate");
    credentials.refresh();
    credentials.refresh();
    assertEquals(first, credentials.certificate());
    assertEquals(1, certificates.events.failed.size(), certificates.events.failed.toString());

    TestCertificates.replace(certificates.certificate("n1"), former);
    credentials.refresh();
    X509Certificate second = certificates.node("n1");
    credentials.refresh();
    assertEquals(second, credentials.certificate());
    assertNotEquals(first, second);
    assertEquals(2, certificates.events.reloaded.size());
    assertEquals(1, certificates.events.failed.size());
  }

  @Test
  void expiredCertificateIsWarnedOf() throws Exception {
    certificates.write(
        "n1", certificates.authority.node("n1", List.of("127.0.0.1"), TestCertificates.expired()));
    certificates.credentials("n1");
    assertEquals(1, certificates.events.warned.size());
    assertTrue(certificates.events.warned.get(0).contains("expired at"));
  }

  @Test
  void certificatesNameNodesAndUsers() throws Exception {
    X509Certificate node = certificates.node("n1");
    assertEquals("n1", Certificates.node(node));
    assertNull(Certificates.strangeToNodes(node));

    X509Certificate user = certificates.user("billing");
    assertNull(Certificates.strangeToUsers(user));
    assertNotNull(Certificates.strangeToUsers(node));
    assertNull(Certificates.node(user));
    assertNotNull(Certificates.strangeToNodes(user));
    assertNotNull(Certificates.strangeToNodes(certificates.authority.certificate()));
  }

  @Test
  void channelBindingIsTheHashOfTheCertificate() throws Exception {
    X509Certificate node = certificates.node("n1");
    assertArrayEquals(
        MessageDigest.getInstance("SHA-256").digest(node.getEncoded()),
        Certificates.serverEndPoint(node));
  }

  /** A certificate that is signed by itself, in a PKCS#12 file. */
  private TlsFiles signedWith(String... algorithm) throws Exception {
    Path store = certificates.folder.resolve("store" + algorithm.length + System.nanoTime());
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "own",
                "-dname",
                "CN=own",
                "-storetype",
                "PKCS12",
                "-storepass",
                "changeit",
                "-keystore",
                store.toString()));
    command.addAll(List.of(algorithm));
    Process keytool = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, keytool.waitFor(), said);
    return new TlsFiles(null, null, store, "changeit", null, certificates.trust(), null);
  }

  private TlsCredentials bindable(TlsFiles files) throws IOException {
    return new TlsCredentials(files, TlsVersion.TLS_1_3, certificates.events, /* bindable= */ true);
  }

  @ParameterizedTest
  @CsvSource({"2048, SHA-256", "3200, SHA-384"})
  void hashOfAPssSignatureIsInItsParameters(String bits, String hash) throws Exception {
    X509Certificate own =
        bindable(signedWith("-keyalg", "RSA", "-keysize", bits, "-sigalg", "RSASSA-PSS"))
            .certificate();
    assertEquals("RSASSA-PSS", own.getSigAlgName());
    assertArrayEquals(
        MessageDigest.getInstance(hash).digest(own.getEncoded()), Certificates.serverEndPoint(own));
  }

  @Test
  void hashThatIsBrokenIsReplaced() throws Exception {
    X509Certificate own =
        bindable(signedWith("-keyalg", "RSA", "-keysize", "2048", "-sigalg", "SHA1withRSA"))
            .certificate();
    assertArrayEquals(
        MessageDigest.getInstance("SHA-256").digest(own.getEncoded()),
        Certificates.serverEndPoint(own));
  }

  @Test
  void certificateToWhichNoLoginCanBeBoundIsRefused() throws Exception {
    TlsFiles files = signedWith("-keyalg", "Ed25519");
    IOException refused = assertThrows(IOException.class, () -> bindable(files));
    assertTrue(
        refused.getMessage().contains("RFC 5929 defines no channel binding"), refused.getMessage());
    // between nodes nobody logs in
    new TlsCredentials(files, TlsVersion.TLS_1_3, certificates.events);
  }

  @Test
  void suchACertificateIsNotTakenLaterEither() throws Exception {
    TlsFiles files = signedWith("-keyalg", "EC");
    TlsCredentials credentials = bindable(files);
    X509Certificate former = credentials.certificate();
    Files.move(
        signedWith("-keyalg", "Ed25519").keyStore(),
        files.keyStore(),
        StandardCopyOption.REPLACE_EXISTING);
    credentials.refresh();
    assertEquals(former, credentials.certificate());
    assertEquals(1, certificates.events.failed.size(), certificates.events.failed.toString());
  }

  @Test
  void authorityIsReadBackAsItWasMade() throws Exception {
    TestAuthority authority = certificates.authority;
    authority.certificate().verify(authority.certificate().getPublicKey());
    assertEquals(0x7FFFFFFF, authority.certificate().getBasicConstraints());
    X509Certificate node = certificates.node("n1");
    node.verify(authority.certificate().getPublicKey());
    assertEquals(-1, node.getBasicConstraints());
    X509Certificate again = authority.renewed(node, TestCertificates.now()).certificate();
    assertEquals(
        List.copyOf(node.getSubjectAlternativeNames()),
        List.copyOf(again.getSubjectAlternativeNames()));
    assertEquals(node.getExtendedKeyUsage(), again.getExtendedKeyUsage());
    assertNotEquals(node.getSerialNumber(), again.getSerialNumber());
    assertNotEquals(node.getPublicKey(), again.getPublicKey());
  }
}
