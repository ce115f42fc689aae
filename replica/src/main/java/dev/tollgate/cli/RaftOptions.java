package dev.tollgate.cli;

import dev.tollgate.log.RaftSettings;
import dev.tollgate.node.NodeTls;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of a node about its cluster and their log. */
final class RaftOptions {
  private static final int LEAST_ELECTION_MILLIS = 50;
  private static final int MOST_ELECTION_MILLIS = 60_000;

  @Option(
      names = "--raft-address",
      description =
          "host:port at which the other nodes reach this one; if not given, what --peers says of"
              + " it. Without either, the node stays alone. [TOLLGATE_RAFT_ADDRESS]")
  private @Nullable String address;

  @Option(
      names = "--peers",
      split = ",",
      description =
          "Every node of a new cluster, this one too: id=host:port,... with the Raft addresses."
              + " Without it, the node is a cluster of its own. What --data knows goes before it."
              + " [TOLLGATE_PEERS]")
  private @Nullable List<String> peers;

  @Option(
      names = "--join",
      description =
          "jdbc:tollgate://host:port,.../ of a running cluster that this node asks to be added to,"
              + " unless it belongs to it already. [TOLLGATE_JOIN]")
  private @Nullable String join;

  @Mixin private final LoginOptions login = new LoginOptions();

  @Option(
      names = "--election-timeout",
      defaultValue = "200",
      description =
          "Milliseconds of silence after which the leader is replaced; at most twice that."
              + " [TOLLGATE_ELECTION_TIMEOUT]")
  private long electionTimeoutMillis;

  @Option(
      names = "--snapshot-log-mib",
      defaultValue = "64",
      description =
          "Mebibytes by which the log grows between two snapshots; may be a fraction."
              + " [TOLLGATE_SNAPSHOT_LOG_MIB]")
  private double snapshotLogMib;

  @Option(
      names = "--trace-promises",
      paramLabel = "FILE",
      hidden = true,
      description =
          "Where votes, acknowledgements, syncs and commits are written down for a checker; not"
              + " in --data")
  private @Nullable Path promises;

  RaftOptions() {}

  /** Rejects settings that would fail later, and less clearly. */
  void requireSense(Addresses addresses, ConnectionOptions.Requirement that) {
    if (address != null) {
      addresses.requirePort("--raft-address", address);
    }
    that.require(
        electionTimeoutMillis >= LEAST_ELECTION_MILLIS
            && electionTimeoutMillis <= MOST_ELECTION_MILLIS,
        "--election-timeout is "
            + electionTimeoutMillis
            + " ms: it has to be from "
            + LEAST_ELECTION_MILLIS
            + " to "
            + MOST_ELECTION_MILLIS);
    that.require(snapshotLogMib > 0, "--snapshot-log-mib has to be more than 0: " + snapshotLogMib);
    that.require(
        join == null || !LoginOptions.hasPassword(join),
        "--join has a password in it, which others would read here: write it into a file, and name"
            + " that with --password-file");
  }

  /** The nodes of a new cluster; none if this node is to join another cluster. */
  SortedMap<String, String> members(
      String id, Addresses addresses, ConnectionOptions.Requirement that) {
    SortedMap<String, String> members = new TreeMap<>();
    if (join != null) {
      that.require(
          address != null, "--join needs --raft-address: the others have to reach this node");
      that.require(
          peers == null, "--join asks a running cluster, --peers makes a new one: not both");
    } else if (peers == null || peers.isEmpty()) {
      members.put(id, address == null ? "" : address);
    } else {
      members.putAll(addresses.peers(peers));
      String stated = members.get(id);
      that.require(stated != null, "--peers does not name this node, " + id);
      that.require(
          address == null || address.equals(stated),
          "--peers says that " + id + " is at " + stated + ", --raft-address says " + address);
      address = stated;
    }
    return members;
  }

  /**
   * @param members what {@link #members} has returned
   */
  RaftSettings settings(
      String id, SortedMap<String, String> members, Path data, @Nullable NodeTls tls) {
    return new RaftSettings(id, address, members, data, electionTimeout(), snapshotLogBytes())
        .withTls(tls == null ? null : tls.peers())
        .withPromises(promises);
  }

  /** Where other nodes reach this one, or null; known once {@link #members} was asked. */
  @Nullable String address() {
    return address;
  }

  /** The nodes of a new cluster, as they were written; none for another node. */
  List<String> peers() {
    return peers == null ? List.of() : List.copyOf(peers);
  }

  /** The running cluster that the node joins, or null. */
  @Nullable String join() {
    return join;
  }

  LoginOptions login() {
    return login;
  }

  Duration electionTimeout() {
    return Duration.ofMillis(electionTimeoutMillis);
  }

  long snapshotLogBytes() {
    return (long) (snapshotLogMib * (1 << 20));
  }
}
