package dev.tollgate.samples.benchmark.system;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Nodes of Tollgate, from the source tree that the benchmark is part of. */
public final class TollgateNodes implements Ensemble {
  private static final int CLIENT = 1;
  private static final int RAFT = 11;

  private final Ground ground;
  private final int nodes;
  private final String heap;
  private final Members members = new Members();
  private final String endpoints;

  /**
   * @param heap of each node, such as 400m
   */
  public TollgateNodes(Ground ground, int nodes, String heap) throws Exception {
    this(ground, nodes, heap, /* tls= */ false);
  }

  private TollgateNodes(Ground ground, int nodes, String heap, boolean tls) throws Exception {
    this.ground = ground;
    this.nodes = nodes;
    this.heap = heap;
    List<String> clients = ground.addresses(CLIENT, nodes);
    List<String> rafts = ground.addresses(RAFT, nodes);
    Path certificates = ground.directory().resolve("certificates");
    String url = "jdbc:tollgate://" + String.join(",", clients) + "/";
    this.endpoints = tls ? url + "?sslRootCert=" + certificates.resolve("ca.crt") : url;
    if (tls) {
      makeCertificates(certificates);
    }
    List<String> peers = new ArrayList<>();
    for (int i = 0; i < nodes; i++) {
      peers.add("n" + i + "=" + rafts.get(i));
    }
    for (int i = 0; i < nodes; i++) {
      String name = "n" + i;
      members.add(
          new Member(
              ground,
              name,
              Map.of("TOLLGATE_HEAP", heap),
              command(
                  List.of(
                      "server",
                      "--id=" + name,
                      "--data=" + ground.directory().resolve(name),
                      "--client-address=" + clients.get(i),
                      "--raft-address=" + rafts.get(i),
                      "--peers=" + String.join(",", peers)),
                  tls
                      ? List.of(
                          "--tls-certificate=" + certificates.resolve(name + ".crt"),
                          "--tls-key=" + certificates.resolve(name + ".key"),
                          "--tls-trust=" + certificates.resolve("ca.crt"))
                      : List.of()),
              () -> ground.outputOf(name).contains("tollgate " + name + " ready")));
    }
    members.awaitReady();
  }

  private List<String> command(List<String> first, List<String> second) {
    List<String> command = new ArrayList<>();
    command.add(ground.home().resolve("replica/bin/tollgate").toString());
    command.addAll(first);
    command.addAll(second);
    return command;
  }

  private void makeCertificates(Path folder) throws IOException, InterruptedException {
    List<String> names = new ArrayList<>();
    for (int i = 0; i < nodes; i++) {
      names.add("--node=n" + i + "=127.0.0.1,localhost");
    }
    Process process =
        new ProcessBuilder(command(List.of("certificates", folder.toString()), names))
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IOException("no certificates: " + said);
    }
  }

  @Override
  public List<Kind> kinds() {
    return List.of(Kind.TOLLGATE);
  }

  @Override
  public String endpoints() {
    return endpoints;
  }

  @Override
  public boolean survivesItsLeader() {
    return members.surviveOne();
  }

  @Override
  public long term() throws SQLException {
    return Long.parseLong(ofLeader("term"));
  }

  private String ofLeader(String column) throws SQLException {
    try (Connection connection = DriverManager.getConnection(endpoints);
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT " + column + " FROM tollgate.nodes WHERE node_role = 'LEADER'")) {
      row.next();
      return row.getString(1);
    }
  }

  @Override
  public void killLeader() throws Exception {
    members.kill(ofLeader("node_id"));
  }

  @Override
  public void silenceLeader() throws Exception {
    members.silence(ofLeader("node_id"));
  }

  @Override
  public void revive() throws Exception {
    members.revive();
  }

  @Override
  public Ensemble another() throws Exception {
    return new TollgateNodes(ground.beside(), nodes, heap);
  }

  @Override
  public Ensemble encrypted() throws Exception {
    return new TollgateNodes(ground.beside(), nodes, heap, /* tls= */ true);
  }

  @Override
  public void stop() throws Exception {
    members.stop();
  }
}
