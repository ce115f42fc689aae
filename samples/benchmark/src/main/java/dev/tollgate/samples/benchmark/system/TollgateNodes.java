package dev.tollgate.samples.benchmark.system;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Nodes of Tollgate, from the source tree that the benchmark is part of. */
public final class TollgateNodes implements Ensemble {
  private static final int CLIENT = 1;
  private static final int RAFT = 11;

  private final Ground ground;
  private final List<Member> members = new ArrayList<>();
  private final String endpoints;
  private @Nullable Member killed;

  /**
   * @param heap of each node, as 400m
   */
  public TollgateNodes(Ground ground, int nodes, String heap) throws Exception {
    this.ground = ground;
    List<String> clients = ground.addresses(CLIENT, nodes);
    List<String> rafts = ground.addresses(RAFT, nodes);
    this.endpoints = "jdbc:tollgate://" + String.join(",", clients) + "/";
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
              List.of(
                  ground.home().resolve("replica/bin/tollgate").toString(),
                  "server",
                  "--id=" + name,
                  "--data=" + ground.directory().resolve(name),
                  "--client-address=" + clients.get(i),
                  "--raft-address=" + rafts.get(i),
                  "--peers=" + String.join(",", peers))));
    }
    for (Member member : members) {
      awaitReady(member);
    }
  }

  private void awaitReady(Member member) throws Exception {
    ground.awaitReady(
        member.name(),
        member.process(),
        () -> ground.outputOf(member.name()).contains("tollgate " + member.name() + " ready"));
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
    return members.size() > 2;
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
    String leader = ofLeader("node_id");
    Member member = members.stream().filter(m -> m.name().equals(leader)).findFirst().orElseThrow();
    member.kill();
    killed = member;
  }

  @Override
  public void restartKilled() throws Exception {
    Member member = killed;
    if (member != null) {
      member.startAgain();
      awaitReady(member);
      killed = null;
    }
  }

  @Override
  public void stop() throws Exception {
    for (Member member : members) {
      member.kill();
    }
  }
}
