package dev.tollgate.samples.benchmark.system;

import io.etcd.jetcd.Client;
import io.etcd.jetcd.maintenance.StatusResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Members of etcd, with the settings of its package. */
public final class EtcdMembers implements Ensemble {
  private static final int CLIENT = 101;
  private static final int PEER = 111;

  private final Members members = new Members();
  private final List<String> clients;

  /**
   * @param program the server
   */
  public EtcdMembers(Ground ground, Path program, int count) throws Exception {
    this.clients = ground.addresses(CLIENT, count).stream().map(a -> "http://" + a).toList();
    List<String> peers = ground.addresses(PEER, count).stream().map(a -> "http://" + a).toList();
    List<String> cluster = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      cluster.add(name(i) + "=" + peers.get(i));
    }
    for (int i = 0; i < count; i++) {
      String name = name(i);
      String client = clients.get(i);
      members.add(
          new Member(
              ground,
              name,
              Map.of(),
              List.of(
                  program.toString(),
                  "--name=" + name,
                  "--data-dir=" + ground.directory().resolve(name),
                  "--listen-client-urls=" + client,
                  "--advertise-client-urls=" + client,
                  "--listen-peer-urls=" + peers.get(i),
                  "--initial-advertise-peer-urls=" + peers.get(i),
                  "--initial-cluster=" + String.join(",", cluster),
                  "--initial-cluster-state=new"),
              () -> Ground.isFound(client + "/health")));
    }
    members.awaitReady();
  }

  private static String name(int number) {
    return "etcd" + number;
  }

  @Override
  public List<Kind> kinds() {
    return List.of(Kind.ETCD);
  }

  @Override
  public String endpoints() {
    return String.join(",", clients);
  }

  @Override
  public boolean survivesItsLeader() {
    return members.surviveOne();
  }

  @Override
  public void killLeader() throws Exception {
    members.kill(leader());
  }

  @Override
  public void silenceLeader() throws Exception {
    members.silence(leader());
  }

  private String leader() throws Exception {
    try (Client client = Client.builder().endpoints(endpoints().split(",")).build()) {
      for (int i = 0; i < clients.size(); i++) {
        StatusResponse status = client.getMaintenanceClient().statusMember(clients.get(i)).get();
        if (status.getLeader() == status.getHeader().getMemberId()) {
          return name(i);
        }
      }
    }
    throw new IllegalStateException("no member of etcd says that it leads");
  }

  @Override
  public void revive() throws Exception {
    members.revive();
  }

  @Override
  public void stop() throws Exception {
    members.stop();
  }
}
