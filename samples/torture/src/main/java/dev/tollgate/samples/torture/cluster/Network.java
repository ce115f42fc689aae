package dev.tollgate.samples.torture.cluster;

import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * The network between nodes and clients. Hosts are numbered: those of nodes from 0, then those of
 * clients.
 */
public interface Network {
  /** The address at which clients reach this node. */
  String clientAddress(int node);

  /** The address at which other nodes reach this node. */
  String raftAddress(int node);

  /** The words with which a command begins so that it runs on this host. */
  List<String> on(int host);

  /** Why links cannot be cut here; empty if they can. */
  Optional<String> obstacleToPartitions();

  /** Why links cannot be slow here; empty if they can. */
  Optional<String> obstacleToSlowness();

  /** How links are made slow here, for a reader. */
  String slowness();

  /**
   * Drops everything that one host sends to the other from now on, silently, as if a cable were
   * unplugged.
   */
  void cut(int from, int to) throws IOException, InterruptedException;

  /** Delays everything that this host sends from now on. */
  void slow(int host) throws IOException, InterruptedException;

  /** Ends all cuts and all slowness. */
  void heal() throws IOException, InterruptedException;
}
