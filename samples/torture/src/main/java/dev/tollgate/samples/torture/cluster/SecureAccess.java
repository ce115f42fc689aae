package dev.tollgate.samples.torture.cluster;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

/**
 * Nodes with TLS on all connections, with logins, and with audit files. All certificates are of one
 * CA, which is made for the run. Clients work as an ordinary user. Every second client logs in with
 * its certificate; the others have none, and log in with a password.
 */
public final class SecureAccess implements Access {
  private static final String CLIENT = "worker";
  private static final int SHOWN_SECONDS = 10;
  private static final int TRY_MILLIS = 2_000;

  private final Path program;
  private final Path certificates;
  private final Path administratorPassword;
  private final Path clientPassword;
  private final Path directory;
  private final Network network;

  /**
   * Makes the certificates and the passwords.
   *
   * @param home of the source tree
   * @param directory for certificates, passwords and audit files
   */
  public SecureAccess(Path home, Path directory, Network network, int nodes)
      throws IOException, InterruptedException {
    this.program = home.resolve("replica/bin/tollgate");
    this.directory = directory;
    this.network = network;
    this.certificates = directory.resolve("certificates");
    this.administratorPassword = directory.resolve("administrator.password");
    this.clientPassword = directory.resolve("client.password");
    Files.writeString(administratorPassword, UUID.randomUUID() + "\n");
    Files.writeString(clientPassword, UUID.randomUUID() + "\n");
    List<String> issue = new ArrayList<>(List.of("--user=" + CLIENT));
    for (int host = 0; host < nodes; host++) {
      issue.add("--node=" + Cluster.name(host) + "=" + address(network.clientAddress(host)));
    }
    certificates(issue);
  }

  private static String address(String hostAndPort) {
    return hostAndPort.substring(0, hostAndPort.lastIndexOf(':'));
  }

  private void certificates(List<String> words) throws IOException, InterruptedException {
    Shell.run(
        Stream.concat(
                Stream.of(program.toString(), "certificates", certificates.toString()),
                words.stream())
            .toArray(String[]::new));
  }

  private Path certificate(String name) {
    return certificates.resolve(name + ".crt");
  }

  private Path key(String name) {
    return certificates.resolve(name + ".key");
  }

  @Override
  public List<String> options(String node) {
    return List.of(
        "--tls-certificate=" + certificate(node),
        "--tls-key=" + key(node),
        "--tls-trust=" + certificate("ca"),
        "--tls-crl=" + certificates.resolve("crl.pem"),
        "--certificate-login",
        "--admin-password-file=" + administratorPassword,
        "--audit-file=" + Cluster.auditFile(directory, node));
  }

  private String tls() {
    return "&sslMode=verify-full&sslRootCert=" + certificate("ca");
  }

  @Override
  public String administrator() {
    return tls() + "&user=admin&passwordFile=" + administratorPassword;
  }

  @Override
  public String client(int number) {
    return number % 2 == 0
        ? tls() + "&sslCert=" + certificate(CLIENT) + "&sslKey=" + key(CLIENT)
        : tls() + "&user=" + CLIENT + "&passwordFile=" + clientPassword;
  }

  @Override
  public void admitClients(Connection administrator) throws SQLException {
    try (PreparedStatement create =
            administrator.prepareStatement("CREATE USER " + CLIENT + " PASSWORD ?");
        Statement statement = administrator.createStatement()) {
      create.setString(1, Files.readString(clientPassword).strip());
      create.execute();
      statement.execute("GRANT LOCK ON '" + Cluster.LOCKS + "' TO " + CLIENT);
      statement.execute("GRANT SELECT, INSERT ON ledger TO " + CLIENT);
      statement.execute("GRANT SELECT, UPDATE ON beat TO " + CLIENT);
    } catch (IOException e) {
      throw new SQLException(e);
    }
  }

  @Override
  public Optional<String> obstacleToRotation() {
    return Optional.empty();
  }

  @Override
  public void replaceCertificates() throws IOException, InterruptedException {
    certificates(List.of("--renew"));
  }

  @Override
  public void awaitCertificate(Node node) throws IOException, InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SHOWN_SECONDS);
    String last = "it shows a former certificate";
    do {
      try (InputStream file = Files.newInputStream(certificate(node.name()))) {
        Certificate present = CertificateFactory.getInstance("X.509").generateCertificate(file);
        if (shown(network.clientAddress(node.host())).equals(present)) {
          return;
        }
      } catch (IOException e) {
        last = e.toString();
      } catch (GeneralSecurityException e) {
        throw new IOException(e);
      }
      TimeUnit.MILLISECONDS.sleep(100);
    } while (System.nanoTime() < end);
    throw new IOException(
        node.name() + " did not show its new certificate within " + SHOWN_SECONDS + " s: " + last);
  }

  /** The certificate that a node shows to a new connection. It has to be of the CA. */
  private Certificate shown(String hostAndPort) throws IOException, GeneralSecurityException {
    String host = address(hostAndPort);
    int port = Integer.parseInt(hostAndPort.substring(host.length() + 1));
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(host, port), TRY_MILLIS);
      socket.setSoTimeout(TRY_MILLIS);
      try (SSLSocket encrypted =
          (SSLSocket) trusting().getSocketFactory().createSocket(socket, host, port, true)) {
        encrypted.startHandshake();
        return encrypted.getSession().getPeerCertificates()[0];
      }
    }
  }

  private SSLContext trusting() throws IOException, GeneralSecurityException {
    KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
    trusted.load(null, null);
    try (InputStream file = Files.newInputStream(certificate("ca"))) {
      trusted.setCertificateEntry(
          "ca", CertificateFactory.getInstance("X.509").generateCertificate(file));
    }
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }

  @Override
  public boolean isAudited() {
    return true;
  }
}
