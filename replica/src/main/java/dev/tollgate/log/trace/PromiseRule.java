package dev.tollgate.log.trace;

/** What no node may do, by the traces of all nodes. */
public enum PromiseRule {
  NO_ACKNOWLEDGEMENT_OF_A_FORMER_TERM(
      "a node that has voted in a term, or has kept it, acknowledges nothing in an earlier one"),
  ACKNOWLEDGED_IS_SYNCED("a node acknowledges what it has synced, and nothing else"),
  ONE_SYNCED_VOTE("a node votes once in a term, and the vote is synced before anybody hears of it"),
  COMMITTED_BY_A_MAJORITY(
      "a leader commits an entry of its own term once a majority has acknowledged it in this term"),
  NOTHING_REGRESSES("what a node has acknowledged stays in its log until a leader cuts it off"),
  COMMITTED_STAYS("nobody cuts off what was committed, and nobody commits something else"),
  ONE_LEADER("a term has one leader, by the votes of a majority"),
  TERMS_RISE("the term of a node never falls, not even with a restart");

  private final String text;

  PromiseRule(String text) {
    this.text = text;
  }

  /** The rule in words. */
  public String text() {
    return text;
  }
}
