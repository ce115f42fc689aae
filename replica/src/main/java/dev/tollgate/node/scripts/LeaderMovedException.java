package dev.tollgate.node.scripts;

/** This node does not lead, or has lost leadership while the request was under way. */
final class LeaderMovedException extends Exception {
  private static final long serialVersionUID = 1L;

  private final boolean maybeDone;

  /**
   * @param maybeDone whether what was requested may have taken effect
   */
  LeaderMovedException(boolean maybeDone) {
    super("this node does not lead", null, false, false);
    this.maybeDone = maybeDone;
  }

  boolean maybeDone() {
    return maybeDone;
  }
}
