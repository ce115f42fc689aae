package dev.tollgate.log;

import static java.util.Objects.requireNonNull;

/** The leader of a term. A term has at most one. */
public record TermLeader(long term, String nodeId) {
  public TermLeader {
    requireNonNull(nodeId, "nodeId");
  }
}
