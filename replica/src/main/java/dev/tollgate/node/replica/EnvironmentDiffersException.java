package dev.tollgate.node.replica;

import dev.tollgate.core.command.Environment;

/**
 * This node would compute statements differently from the nodes that have computed them, or will.
 * It has applied none of those statements.
 */
public final class EnvironmentDiffersException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  EnvironmentDiffersException(Environment own, Environment theirs) {
    super(
        "this node runs on "
            + own.runtime()
            + ", and the statements of its cluster are computed with "
            + theirs.runtime()
            + ", which differs in: "
            + String.join(", ", own.differences(theirs))
            + ". Start the node with that runtime, and it goes on where it stopped; its data are as"
            + " they should be. To exchange the runtime of all nodes, see \"Another Java runtime\" in"
            + " docs/operations.md");
  }
}
