package dev.tollgate.samples.benchmark.system;

import io.etcd.jetcd.Client;
import io.etcd.jetcd.maintenance.StatusResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Members of etcd, with the settings of its package. */
public final class EtcdMembers implements Ensemble {
  private static final int CLIENT = 101;
  private static final int PEER = 111;

  private final Ground ground;
  private final List<Member> members = new ArrayList<>();
  private final List<String> clients;
  private @Nullable Member killed;

  /**
   * @param program the server
   */
  public EtcdMembers(Ground ground, Path program, int count) throws Exception {
    this.ground = ground;
    this.clients = ground.addresses(CLIENT, count).stream().map(a -> "http://" + a).toList();
    List<String> peers = ground.addresses(PEER, count).stream().map(a -> "http://" + a).toList();
    List<String> cluster = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      cluster.add("etcd" + i + "=" + peers.get(i));
    }
    for (int i = 0; i < count; i++) {
      String name = "etcd" + i;
      members.add(
          new Member(
              ground,
              name,
              Map.of(),
              List.of(
                  program.toString(),
                  "--name=" + name,
                  "--data-dir=" + ground.directory().resolve(name),
                  "--listen-client-urls=" + clients.get(i),
                  "--advertise-client-urls=" + clients.get(i),
                  "--listen-peer-urls=" + peers.get(i),
                  "--initial-advertise-peer-urls=" + peers.get(i),
                  "--initial-cluster=" + String.join(",", cluster),
                  "--initial-cluster-state=new")));
    }
    for (int i = 0; i < count; i++) {
      awaitReady(i);
    }
  }

  private void awaitReady(int number) throws Exception {
    Member member = members.get(number);
    ground.awaitReady(
        member.name(), member.process(), () -> Ground.isFound(clients.get(number) + "/health"));
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
    return members.size() > 2;
  }

  @Override
  public void killLeader() throws Exception {
    try (Client client = Client.builder().endpoints(endpoints().split(",")).build()) {
      for (int i = 0; i < members.size(); i++) {
        StatusResponse status = client.getMaintenanceClient().statusMember(clients.get(i)).get();
        if (status.getLeader() == status.getHeader().getMemberId()) {
          killed = members.get(i);
          members.get(i).kill();
          return;
        }
      }
    }
    throw new IllegalStateException("no member of etcd says that it leads");
  }

  @Override
  public void restartKilled() throws Exception {
    Member member = killed;
    if (member != null) {
      member.startAgain();
      awaitReady(members.indexOf(member));
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
