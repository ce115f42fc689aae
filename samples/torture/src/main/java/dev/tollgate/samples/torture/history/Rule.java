package dev.tollgate.samples.torture.history;

import java.util.Arrays;
import java.util.List;

/** The rules that every run must obey. */
public enum Rule {
  ONE_HOLDER("at most one holder at a time, by the order of the log and by the clock"),
  NO_STALE_WRITE("no stale write was accepted"),
  TOKEN_ONCE("no token was given out twice"),
  TOKENS_RISE("tokens rise in the order of time"),
  NO_WRITE_LOST("what was acknowledged is there, and what was refused is not"),
  NO_STALE_READ("each check saw all writes that were acknowledged before it"),
  NO_LEASE_LOST("no live lease was lost without cause"),
  REPLICAS_EQUAL("all nodes have the same rows"),
  AUDITS_EQUAL("the audit files of all nodes tell the same, as far as they go"),
  AVAILABLE("the cluster answers within 5 s of healing, and of a fault that leaves a majority"),
  PROMISES_BETWEEN_NODES(
      "votes, syncs, acknowledgements and commits are in the order that Raft needs"),
  NODES_AS_EXPECTED("nodes ended where a fault ended them, and nowhere else");

  private final String promise;

  Rule(String promise) {
    this.promise = promise;
  }

  /** The rules that a run is checked by. */
  public static List<Rule> of(Evidence evidence) {
    return Arrays.stream(values())
        .filter(rule -> rule != AUDITS_EQUAL || evidence.audit() != null)
        .toList();
  }

  /** The rule in words. */
  public String promise() {
    return promise;
  }
}
