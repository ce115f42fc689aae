package dev.tollgate.samples.benchmark.system;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;

/** Servers of ZooKeeper, from its jar. */
public final class ZooKeeperServers implements Ensemble {
  private static final int CLIENT = 201;
  private static final int QUORUM = 211;
  private static final int ELECTION = 221;

  private final Ground ground;
  private final Members members = new Members();
  private final List<String> clients;

  public ZooKeeperServers(Ground ground, int count) throws Exception {
    this.ground = ground;
    this.clients = ground.addresses(CLIENT, count);
    for (int i = 0; i < count; i++) {
      int number = i;
      String name = name(i);
      Path data = Files.createDirectory(ground.directory().resolve(name));
      Files.writeString(data.resolve("myid"), Integer.toString(i + 1));
      Path settings = data.resolve("zoo.cfg");
      Files.writeString(settings, settings(i, count, data));
      members.add(
          new Member(
              ground,
              name,
              Map.of(),
              Ground.javaCommand(
                  List.of("-Xmx256m", "-Dzookeeper.admin.enableServer=false"),
                  QuorumPeerMain.class.getName(),
                  List.of(settings.toString())),
              () -> !mode(number).isEmpty()));
    }
    members.awaitReady();
  }

  private static String name(int number) {
    return "zookeeper" + number;
  }

  /**
   * Settings with ticks short enough for sessions of a second, and 64 connections from one address.
   */
  private String settings(int number, int count, Path data) {
    StringBuilder text = new StringBuilder();
    text.append("tickTime=500\ninitLimit=40\nsyncLimit=10\nmaxClientCnxns=0\n");
    text.append("maxSessionTimeout=600000\n4lw.commands.whitelist=srvr\n");
    text.append("dataDir=").append(data).append("\nclientPortAddress=127.0.0.1\n");
    text.append("clientPort=").append(ground.port(CLIENT + number)).append('\n');
    if (count > 1) {
      for (int i = 0; i < count; i++) {
        text.append("server.").append(i + 1).append("=127.0.0.1:");
        text.append(ground.port(QUORUM + i)).append(':');
        text.append(ground.port(ELECTION + i)).append('\n');
      }
    }
    return text.toString();
  }

  private String mode(int number) {
    return Ground.ask(ground.port(CLIENT + number), "srvr")
        .lines()
        .filter(line -> line.startsWith("Mode: "))
        .findFirst()
        .orElse("");
  }

  @Override
  public List<Kind> kinds() {
    return List.of(Kind.ZOOKEEPER);
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
    for (int i = 0; i < clients.size(); i++) {
      if (mode(i).equals("Mode: leader")) {
        return name(i);
      }
    }
    throw new IllegalStateException("no server of ZooKeeper says that it leads");
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
