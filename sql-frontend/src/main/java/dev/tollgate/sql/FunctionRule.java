package dev.tollgate.sql;

import static java.util.Objects.requireNonNull;

/**
 * Where one function of H2 may be used.
 *
 * @param name as H2 knows it, in upper case
 * @param group what it has to do with, for the SQL reference
 * @param use where it is accepted
 * @param withoutParentheses whether its bare name is a call
 * @param reason why it is not accepted everywhere, or not as it is, as the end of a sentence; empty
 *     when it is
 * @param instead what to write where it is refused; empty where there is nothing
 */
record FunctionRule(
    String name, String group, Use use, boolean withoutParentheses, String reason, String instead) {

  /** Where a function is accepted. */
  enum Use {
    /** Everywhere: equal arguments give equal results on every replica. */
    ALLOWED,
    /**
     * Everywhere, but H2 is given the function of the same name in schema TOLLGATE, whose result
     * has at most {@link SqlLimits#FUNCTION_RESULT_LENGTH} characters.
     */
    BOUNDED,
    /** Everywhere: the clock and the dice are those of the log entry. */
    PINNED,
    /** Everywhere, but in a write only with an ORDER BY of its own. */
    ORDERED,
    /** In reads alone: the answer depends on the session. */
    SESSION,
    /** In reads alone: the answer depends on the replica, or takes a time that nobody can bound. */
    READ_ONLY,
    /** Nowhere. */
    REFUSED
  }

  FunctionRule {
    requireNonNull(name, "name");
    requireNonNull(group, "group");
    requireNonNull(use, "use");
    requireNonNull(reason, "reason");
    requireNonNull(instead, "instead");
  }

  /** Why it is refused where it is, and what to do about it. */
  String explanation() {
    return Refusals.explanation(reason, instead);
  }
}
