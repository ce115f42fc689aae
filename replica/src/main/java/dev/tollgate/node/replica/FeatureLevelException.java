package dev.tollgate.node.replica;

import dev.tollgate.log.NodeVersion;

/**
 * The cluster uses commands that the version of this node does not know. The node has applied none
 * of them.
 */
public final class FeatureLevelException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  FeatureLevelException(int clusterLevel, NodeVersion own) {
    super(
        "its cluster has feature level "
            + clusterLevel
            + ", and this node runs "
            + own.describe()
            + ", which knows level "
            + own.featureLevel()
            + ". Run the version of the other nodes here, and this node goes on where it stopped;"
            + " its data are as they should be");
  }
}
