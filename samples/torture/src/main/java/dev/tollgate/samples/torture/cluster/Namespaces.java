package dev.tollgate.samples.torture.cluster;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A network namespace for each host, all on one bridge. This process must already be in its own
 * network, mount and process namespaces, as samples/torture.sh makes them. They vanish with the
 * process, however it ends.
 *
 * <p>A cut is a routing rule at the receiver, before the rule that finds local addresses. The
 * receiver silently drops packets from the other host, also those of existing connections.
 */
public final class Namespaces implements Network {
  /** Part of the range for benchmarks (RFC 2544), so that no other host has these addresses. */
  private static final String NET = "198.18.0.";

  private static final int CLIENT_PORT = 7400;
  private static final int RAFT_PORT = 7500;
  private static final String CUT = "100";
  private static final String LOCAL = "1000";

  private static final List<String> DELAY = List.of("netem", "delay", "60ms", "25ms", "loss", "1%");
  private static final List<String> NARROW =
      List.of("tbf", "rate", "192kbit", "burst", "2000", "latency", "1500ms");

  private final boolean canDelay;
  private final List<String[]> cuts = new ArrayList<>();
  private final List<Integer> slow = new ArrayList<>();

  /**
   * @param hosts the number of hosts
   */
  public Namespaces(int hosts) throws IOException, InterruptedException {
    Shell.run("ip", "link", "set", "lo", "up");
    Shell.run("ip", "link", "add", "name", "hub", "type", "bridge");
    Shell.run("ip", "address", "add", NET + "254/24", "dev", "hub");
    Shell.run("ip", "link", "set", "hub", "up");
    for (int host = 0; host < hosts; host++) {
      String name = name(host);
      Shell.run("ip", "netns", "add", name);
      Shell.run(
          "ip", "link", "add", "name", name, "type", "veth", "peer", "name", "eth0", "netns", name);
      Shell.run("ip", "link", "set", name, "master", "hub", "up");
      inside(host, "ip", "link", "set", "lo", "up");
      inside(host, "ip", "address", "add", address(host) + "/24", "dev", "eth0");
      inside(host, "ip", "link", "set", "eth0", "up");
      inside(host, "ip", "rule", "add", "pref", LOCAL, "lookup", "local");
      inside(host, "ip", "rule", "del", "pref", "0");
    }
    this.canDelay = canDelay();
  }

  /** Returns whether links can have a delay: not every kernel has the module. */
  private boolean canDelay() throws IOException, InterruptedException {
    try {
      shape("add", 0, DELAY);
    } catch (IOException e) {
      return false;
    }
    inside(0, "tc", "qdisc", "del", "dev", "eth0", "root");
    return true;
  }

  /** Why this machine cannot have namespaces, permissions aside; empty if it can. */
  public static Optional<String> obstacle() {
    for (String program : List.of("ip", "tc", "nsenter")) {
      if (Shell.find(program).isEmpty()) {
        return Optional.of(program + " is not installed (iproute2, util-linux)");
      }
    }
    return Optional.empty();
  }

  private static String name(int host) {
    return "host" + host;
  }

  private static String address(int host) {
    return NET + (host + 1);
  }

  private void inside(int host, String... command) throws IOException, InterruptedException {
    List<String> words = new ArrayList<>(on(host));
    words.addAll(List.of(command));
    Shell.run(words.toArray(new String[0]));
  }

  private void shape(String verb, int host, List<String> how)
      throws IOException, InterruptedException {
    List<String> words = new ArrayList<>(List.of("tc", "qdisc", verb, "dev", "eth0", "root"));
    words.addAll(how);
    inside(host, words.toArray(new String[0]));
  }

  @Override
  public String clientAddress(int node) {
    return address(node) + ":" + CLIENT_PORT;
  }

  @Override
  public String raftAddress(int node) {
    return address(node) + ":" + RAFT_PORT;
  }

  @Override
  public List<String> on(int host) {
    return List.of("nsenter", "--net=/run/netns/" + name(host));
  }

  @Override
  public Optional<String> obstacleToPartitions() {
    return Optional.empty();
  }

  @Override
  public Optional<String> obstacleToSlowness() {
    return Optional.empty();
  }

  @Override
  public String slowness() {
    return String.join(" ", canDelay ? DELAY : NARROW);
  }

  @Override
  public void cut(int from, int to) throws IOException, InterruptedException {
    String[] rule = {"from", address(from), "blackhole", "pref", CUT};
    rule(to, "add", rule);
    cuts.add(new String[] {Integer.toString(to), address(from)});
  }

  private void rule(int host, String verb, String... rule)
      throws IOException, InterruptedException {
    List<String> words = new ArrayList<>(List.of("ip", "rule", verb));
    words.addAll(List.of(rule));
    inside(host, words.toArray(new String[0]));
  }

  @Override
  public void slow(int host) throws IOException, InterruptedException {
    shape("add", host, canDelay ? DELAY : NARROW);
    slow.add(host);
  }

  @Override
  public void heal() throws IOException, InterruptedException {
    for (String[] cut : cuts) {
      rule(Integer.parseInt(cut[0]), "del", "from", cut[1], "blackhole", "pref", CUT);
    }
    cuts.clear();
    for (int host : slow) {
      inside(host, "tc", "qdisc", "del", "dev", "eth0", "root");
    }
    slow.clear();
  }
}
