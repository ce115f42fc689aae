package dev.tollgate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.tls.CertificateDemand;
import dev.tollgate.tls.Certificates;
import dev.tollgate.tls.Pem;
import dev.tollgate.tls.TlsCredentials;
import dev.tollgate.tls.TlsFiles;
import dev.tollgate.tls.TlsVersion;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command that makes certificates, and what a node says to them. */
class CertificatesCommandTest {
  @TempDir Path directory;

  private int run(String... arguments) {
    List<String> all = new ArrayList<>(List.of("certificates", folder().toString()));
    all.addAll(List.of(arguments));
    return Main.commandLine()
        .setErr(new PrintWriter(new StringWriter(), true))
        .execute(all.toArray(String[]::new));
  }

  private Path folder() {
    return directory.resolve("certs");
  }

  private X509Certificate certificate(String name) throws IOException {
    return Pem.certificates(folder().resolve(name + ".crt")).get(0);
  }

  private String mode(String file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(folder().resolve(file)));
  }

  @Test
  void nodesAndUsersGetWhatANodeAccepts() throws Exception {
    assertEquals(0, run("--node", "n1=db1.example.org,127.0.0.1,::1", "--user", "billing"));
    assertEquals("rw-------", mode("ca.key"));
    assertEquals("rw-------", mode("n1.key"));
    assertEquals("rw-------", mode("billing.key"));
    assertEquals("rw-r--r--", mode("n1.crt"));
    assertEquals("n1", Certificates.node(certificate("n1")));
    assertEquals(
        "[[6, tollgate:user:billing]]",
        certificate("billing").getSubjectAlternativeNames().toString());
    assertNull(Certificates.strangeToUsers(certificate("billing")));
    Collection<List<?>> names = certificate("n1").getSubjectAlternativeNames();
    assertEquals(
        "[[6, tollgate:node:n1], [2, db1.example.org], [7, 127.0.0.1], [7, 0:0:0:0:0:0:0:1]]",
        names.toString());
    certificate("n1").verify(certificate("ca").getPublicKey());
    TlsCredentials credentials =
        new TlsCredentials(
            new TlsFiles(
                folder().resolve("n1.crt"),
                folder().resolve("n1.key"),
                null,
                null,
                null,
                folder().resolve("ca.crt"),
                folder().resolve("crl.pem")),
            TlsVersion.TLS_1_3,
            new Silent());
    assertTrue(credentials.serverEngine(CertificateDemand.REQUIRED, true).getNeedClientAuth());
    assertNull(credentials.revocation(certificate("billing")));
    assertEquals(0, run("--revoke", "billing"));
    credentials.refresh();
    assertTrue(String.valueOf(credentials.revocation(certificate("billing"))).contains("revoked"));
    // a second one leaves the first one revoked
    assertEquals(0, run("--user", "shop"));
    assertEquals(0, run("--revoke", "shop"));
    credentials.refresh();
    assertTrue(String.valueOf(credentials.revocation(certificate("billing"))).contains("revoked"));
    assertNull(credentials.revocation(certificate("n1")));
  }

  private static final class Silent implements TlsCredentials.Listener {
    @Override
    public void reloaded(String what) {}

    @Override
    public void warned(String what) {
      throw new AssertionError(what);
    }

    @Override
    public void failed(String why) {
      throw new AssertionError(why);
    }
  }

  @Test
  void nothingIsReplacedUnlessAskedFor() throws Exception {
    assertEquals(0, run("--node", "n1=127.0.0.1", "--user", "billing"));
    X509Certificate authority = certificate("ca");
    X509Certificate node = certificate("n1");
    X509Certificate user = certificate("billing");
    assertEquals(Main.FAILED, run("--node", "n1=127.0.0.1"));
    assertEquals(node, certificate("n1"));

    assertEquals(0, run("--node", "n1=127.0.0.1,localhost", "--renew"));
    assertNotEquals(node, certificate("n1"));
    assertEquals(user, certificate("billing"));

    X509Certificate second = certificate("n1");
    assertEquals(0, run("--renew"));
    assertNotEquals(second, certificate("n1"));
    assertNotEquals(user, certificate("billing"));
    assertEquals(
        List.copyOf(second.getSubjectAlternativeNames()),
        List.copyOf(certificate("n1").getSubjectAlternativeNames()));
    assertEquals(authority, certificate("ca"));
  }

  @Test
  void namesThatCannotBeAreRefused() {
    assertEquals(Main.USAGE, run("--user", "../etc"));
    assertEquals(Main.USAGE, run("--user", "ca"));
    assertEquals(Main.USAGE, run("--node", "n1=a b"));
    assertEquals(Main.USAGE, run("--node", "n1=a", "--user", "n1"));
    assertEquals(Main.USAGE, run("--days", "0"));
  }
}
