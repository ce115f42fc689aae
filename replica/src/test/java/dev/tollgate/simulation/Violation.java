package dev.tollgate.simulation;

/** Something that must never happen has happened. */
final class Violation extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private final String invariant;

  /**
   * @param invariant its number, I1 to I10, or a word for what is no invariant
   */
  Violation(String invariant, String message) {
    super(invariant + ": " + message);
    this.invariant = invariant;
  }

  Violation(String invariant, Throwable cause) {
    super(invariant + ": " + cause, cause);
    this.invariant = invariant;
  }

  String invariant() {
    return invariant;
  }
}
