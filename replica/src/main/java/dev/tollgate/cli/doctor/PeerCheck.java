package dev.tollgate.cli.doctor;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Whether the other nodes can be reached, and how far away they are. */
final class PeerCheck implements Check {
  private static final int PATIENCE_MILLIS = 1_000;
  private static final int ATTEMPTS = 3;

  /** A cluster has seldom more; each may take a second. */
  private static final int MOST_PEERS = 8;

  private final String nodeId;
  private final Map<String, String> peers;
  private final Duration electionTimeout;

  PeerCheck(String nodeId, Map<String, String> peers, Duration electionTimeout) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.peers = new TreeMap<>(peers);
    this.peers.remove(nodeId);
    this.electionTimeout = requireNonNull(electionTimeout, "electionTimeout");
  }

  @Override
  public String subject() {
    return "peers";
  }

  @Override
  public List<Finding> run() {
    if (peers.isEmpty()) {
      return List.of(Finding.pass(subject(), "node " + nodeId + " knows no others"));
    }
    List<Finding> findings = new ArrayList<>();
    for (Map.Entry<String, String> peer : peers.entrySet()) {
      if (findings.size() == MOST_PEERS) {
        findings.add(
            Finding.warn(
                subject(),
                (peers.size() - MOST_PEERS) + " more were not asked",
                "run the check on other nodes too"));
        break;
      }
      findings.add(ask(peer.getKey(), peer.getValue()));
    }
    return findings;
  }

  private Finding ask(String id, String address) {
    String what = id + " at " + address;
    try {
      int colon = address.lastIndexOf(':');
      String host = address.substring(0, colon).replaceAll("^\\[|]$", "");
      InetSocketAddress target =
          new InetSocketAddress(
              InetAddress.getByName(host), Integer.parseInt(address.substring(colon + 1)));
      double fastest = Double.MAX_VALUE;
      for (int i = 0; i < ATTEMPTS; i++) {
        fastest = Math.min(fastest, connectMillis(target));
      }
      return judge(what, fastest);
    } catch (UnknownHostException e) {
      return Finding.fail(
          subject(), what + ": the name of the host is not known", "mend DNS or --peers");
    } catch (IOException e) {
      return Finding.warn(
          subject(),
          what + " cannot be reached: " + e.getMessage(),
          "start that node, or open the port between the hosts");
    }
  }

  private static double connectMillis(InetSocketAddress target) throws IOException {
    long before = System.nanoTime();
    try (Socket socket = new Socket()) {
      socket.connect(target, PATIENCE_MILLIS);
      return (System.nanoTime() - before) / 1e6;
    }
  }

  Finding judge(String peer, double roundTripMillis) {
    String fact = String.format(Locale.ROOT, "%s answers within %.1f ms", peer, roundTripMillis);
    return roundTripMillis > electionTimeout.toMillis() / 4.0
        ? Finding.warn(
            subject(), fact, "raise --election-timeout on all nodes to ten round trips at least")
        : Finding.pass(subject(), fact);
  }
}
