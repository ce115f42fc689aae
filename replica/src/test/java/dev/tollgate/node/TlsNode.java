package dev.tollgate.node;

import dev.tollgate.tls.CertificateDemand;
import dev.tollgate.tls.TlsCredentials;
import dev.tollgate.tls.TlsFiles;
import dev.tollgate.tls.TlsVersion;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** One node in this process that keeps nothing, and whose clients come over TLS. */
final class TlsNode implements AutoCloseable {
  private final Node node;

  TlsNode(TlsFiles files, TlsVersion minVersion, CertificateDemand demand) throws IOException {
    TlsCredentials credentials = new TlsCredentials(files, minVersion, NodeTls.logged("n1"));
    node =
        new Node(
            LoopbackSettings.of("n1", null)
                .withTls(new NodeTls(credentials, demand, /* peers= */ false)));
    node.start();
  }

  InetSocketAddress address() {
    return node.listenAddress();
  }

  String url(String host, String properties) {
    return "jdbc:tollgate://" + host + ":" + address().getPort() + "/?" + properties;
  }

  /** Runs a query on a new connection. */
  static int ask(String url) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT 1 + 1")) {
      rows.next();
      return rows.getInt(1);
    }
  }

  @Override
  public void close() {
    node.closeAtOnce();
  }
}
