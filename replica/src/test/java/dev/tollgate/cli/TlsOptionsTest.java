package dev.tollgate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.node.NodeTls;
import dev.tollgate.tls.CertificateDemand;
import dev.tollgate.tls.TestCertificates;
import dev.tollgate.tls.TlsCredentials;
import dev.tollgate.tls.TlsSocket;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParameterException;

/** What the options about TLS make of a node. */
class TlsOptionsTest {
  private static final int MILLIS = 10_000;

  @TempDir private Path directory;
  private TestCertificates nodes;
  private TestCertificates users;

  @Command
  private static final class Options {
    @Mixin private final TlsOptions tls = new TlsOptions();
  }

  @BeforeEach
  void makeCertificates() throws Exception {
    nodes = new TestCertificates(directory.resolve("nodes"));
    users = new TestCertificates(directory.resolve("users"));
    nodes.node("n1");
    nodes.node("n2");
    users.user("billing");
  }

  private @Nullable NodeTls read(String... more) throws IOException {
    List<String> arguments = new ArrayList<>(List.of(more));
    arguments.add("--tls-certificate=" + nodes.certificate("n1"));
    arguments.add("--tls-key=" + nodes.key("n1"));
    return readAlone(arguments.toArray(String[]::new));
  }

  private @Nullable NodeTls readAlone(String... arguments) throws IOException {
    Options options = new Options();
    CommandLine command = new CommandLine(options);
    command.parseArgs(arguments);
    return options.tls.read(command, nodes.events, /* hasPeers= */ true);
  }

  private void assertRefused(String why, String... arguments) {
    ParameterException refused = assertThrows(ParameterException.class, () -> read(arguments));
    assertTrue(refused.getMessage().contains(why), refused.getMessage());
  }

  @Test
  void certificatesAreLoginsOnlyWhereThatIsSaid() throws Exception {
    String trust = "--tls-trust=" + users.trust();
    assertFalse(read(trust).logins().isOn());
    assertTrue(read(trust, "--certificate-login").logins().isOn());
    assertTrue(read(trust, "--certificate-login").trustsOneCaForAll());
    assertFalse(read(trust).trustsOneCaForAll());
    assertRefused("needs --certificate-login", trust, "--certificate-map=map");
    assertRefused("needs TLS with clients", trust, "--certificate-login", "--tls-clients=off");
    assertRefused(
        "needs TLS with clients", "--certificate-login", "--peer-tls-trust=" + nodes.trust());
    assertThrows(
        IOException.class, () -> read(trust, "--certificate-login", "--certificate-map=nowhere"));
    assertThrows(ParameterException.class, () -> readAlone("--certificate-login"));
    assertNull(readAlone());
  }

  @Test
  void nodesHaveATrustOfTheirOwn() throws Exception {
    String forClients = "--tls-trust=" + users.trust();
    String forNodes = "--peer-tls-trust=" + nodes.trust();
    NodeTls tls = read(forClients, forNodes, "--certificate-login");
    assertFalse(tls.trustsOneCaForAll());
    assertEquals(CertificateDemand.WANTED, tls.clients());
    users.node("n2");
    assertNull(accepted(tls, users.credentialsFor("n2", nodes)), "a node of the CA for clients");
    assertNotNull(accepted(tls, nodes.credentials("n2")));
    // one trust for both, as it was before
    assertNotNull(accepted(read(forClients), users.credentialsFor("n2", nodes)));
    assertEquals(CertificateDemand.NONE, read(forNodes).clients());
    assertRefused("needs --peer-tls-trust", forClients, "--peer-tls-crl=" + nodes.crl());
    assertThrows(ParameterException.class, () -> readAlone(forNodes));
    nodes.revoke();
    // a list that the CA for clients has not signed
    assertThrows(IOException.class, () -> read(forClients, forNodes, "--tls-crl=" + nodes.crl()));
    assertNotNull(read(forClients, forNodes, "--peer-tls-crl=" + nodes.crl()));
  }

  /** Connects as a node; null if the node of these options does not take the certificate. */
  private static @Nullable TlsSocket accepted(NodeTls tls, TlsCredentials caller) throws Exception {
    try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket client = new Socket(InetAddress.getLoopbackAddress(), listener.getLocalPort());
        Socket server = listener.accept()) {
      CompletableFuture<Object> calling =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return TlsSocket.handshake(
                      client, caller.peerEngine("127.0.0.1", 1), "n1", MILLIS);
                } catch (IOException e) {
                  return e;
                }
              });
      try {
        return TlsSocket.handshake(
            server,
            tls.peers().serverEngine(CertificateDemand.REQUIRED, /* nodesOnly= */ true),
            "n2",
            MILLIS);
      } catch (IOException e) {
        return null;
      } finally {
        server.shutdownOutput();
        calling.get(MILLIS, TimeUnit.MILLISECONDS);
      }
    }
  }
}
