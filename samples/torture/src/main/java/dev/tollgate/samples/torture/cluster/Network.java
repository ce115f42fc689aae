package dev.tollgate.samples.torture.cluster;

import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** What lies between nodes and clients. Hosts are numbered: the nodes from 0, then the clients'. */
public interface Network {
  /** Where clients reach this node. */
  String clientAddress(int node);

  /** Where other nodes reach it. */
  String raftAddress(int node);

  /** What a command begins with so that it runs on this host. */
  List<String> on(int host);

  /** Why links cannot be cut here, if they cannot. */
  Optional<String> obstacleToPartitions();

  /** Why links cannot be slow here, if they cannot. */
  Optional<String> obstacleToSlowness();

  /** How slow links are made slow here, for a reader. */
  String slowness();

  /**
   * From now on nothing that one host sends reaches the other; silently, as if a cable were out.
   */
  void cut(int from, int to) throws IOException, InterruptedException;

  /** From now on all that this host sends takes long. */
  void slow(int host) throws IOException, InterruptedException;

  /** Ends all cuts and all slowness. */
  void heal() throws IOException, InterruptedException;
}
