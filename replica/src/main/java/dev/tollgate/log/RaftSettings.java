package dev.tollgate.log;

import static java.util.Objects.requireNonNull;

import dev.tollgate.seal.DataKeys;
import dev.tollgate.tls.TlsCredentials;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * How a node takes part in its Raft group.
 *
 * @param nodeId this node
 * @param raftAddress host:port at which the other nodes reach this one; null if it listens nowhere,
 *     and so stays alone
 * @param peers host:port for the other nodes, by node id. For a new group: every node, including
 *     this one. For a node that will be added to a group: none. What the directory knows takes
 *     precedence.
 * @param directory where the log is kept
 * @param electionTimeout the shortest silence of a leader after which a follower stands for
 *     election; the longest is twice that
 * @param snapshotLogBytes by how much the log grows between two snapshots
 * @param tls with which they encrypt it, all or none of them; null for none
 * @param clock the wall clock of this node
 * @param promises where each promise to another node is written down, outside of the directory;
 *     null for nowhere
 * @param keys with which the node encrypts what it keeps in the directory
 */
public record RaftSettings(
    String nodeId,
    @Nullable String raftAddress,
    SortedMap<String, String> peers,
    Path directory,
    Duration electionTimeout,
    long snapshotLogBytes,
    @Nullable TlsCredentials tls,
    Clock clock,
    @Nullable Path promises,
    DataKeys keys) {
  /** Suits nodes whose network and processors answer within some tens of milliseconds. */
  public static final Duration ELECTION_TIMEOUT = Duration.ofMillis(200);

  /** Some hundred thousand small entries, which a restart applies in a few seconds. */
  public static final long SNAPSHOT_LOG_BYTES = 64L << 20;

  public RaftSettings {
    requireNonNull(nodeId, "nodeId");
    requireNonNull(directory, "directory");
    requireNonNull(clock, "clock");
    requireNonNull(keys, "keys");
    peers = Collections.unmodifiableSortedMap(new TreeMap<>(peers));
    if (!peers.isEmpty() && !peers.containsKey(nodeId)) {
      throw new IllegalArgumentException("node " + nodeId + " is none of the peers " + peers);
    }
    if (raftAddress == null && peers.size() != 1) {
      throw new IllegalArgumentException("a node without an address is alone");
    }
    if (electionTimeout.toMillis() < 50) {
      throw new IllegalArgumentException("election timeout " + electionTimeout);
    }
    if (snapshotLogBytes <= 0) {
      throw new IllegalArgumentException("snapshot after " + snapshotLogBytes + " bytes");
    }
  }

  /**
   * Creates the settings of a node that talks without TLS, goes by the clock of this machine,
   * writes no promises down, and encrypts nothing.
   */
  public RaftSettings(
      String nodeId,
      @Nullable String raftAddress,
      SortedMap<String, String> peers,
      Path directory,
      Duration electionTimeout,
      long snapshotLogBytes) {
    this(
        nodeId,
        raftAddress,
        peers,
        directory,
        electionTimeout,
        snapshotLogBytes,
        /* tls= */ null,
        Clock.systemUTC(),
        /* promises= */ null,
        DataKeys.off());
  }

  /** Returns these settings with TLS between nodes. */
  public RaftSettings withTls(@Nullable TlsCredentials credentials) {
    return with(credentials, clock, promises, keys);
  }

  /** Returns these settings for a node with another wall clock. */
  public RaftSettings withClock(Clock other) {
    return with(tls, other, promises, keys);
  }

  /** Returns these settings with a file for promises. */
  public RaftSettings withPromises(@Nullable Path file) {
    return with(tls, clock, file, keys);
  }

  /** Returns these settings for a node that encrypts what it keeps. */
  public RaftSettings withKeys(DataKeys chosen) {
    return with(tls, clock, promises, chosen);
  }

  private RaftSettings with(
      @Nullable TlsCredentials credentials, Clock time, @Nullable Path trace, DataKeys dataKeys) {
    return new RaftSettings(
        nodeId,
        raftAddress,
        peers,
        directory,
        electionTimeout,
        snapshotLogBytes,
        credentials,
        time,
        trace,
        dataKeys);
  }

  /** Returns the settings of a group of this node alone, which listens nowhere. */
  public static RaftSettings alone(String nodeId, Path directory) {
    return new RaftSettings(
        nodeId,
        null,
        new TreeMap<>(Map.of(nodeId, "")),
        directory,
        ELECTION_TIMEOUT,
        SNAPSHOT_LOG_BYTES);
  }
}
