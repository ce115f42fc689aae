package dev.tollgate.sql;

import static java.util.Objects.requireNonNull;

/**
 * Where one function of H2 may be used.
 *
 * @param name as H2 knows it, in upper case
 * @param group the topic of the function, for the SQL reference
 * @param use where the function is accepted
 * @param withoutParentheses whether its bare name is a call
 * @param reason why the function is not accepted everywhere, or not unchanged, as the end of a
 *     sentence; empty if it is
 * @param instead what to write where the function is refused; empty if there is nothing
 */
record FunctionRule(
    String name, String group, Use use, boolean withoutParentheses, String reason, String instead) {

  /** Where a function is accepted. */
  enum Use {
    /** Everywhere: equal arguments give equal results on every replica. */
    ALLOWED,
    /**
     * Everywhere, but H2 calls the function of the same name in schema TOLLGATE, whose result has
     * at most {@link SqlLimits#FUNCTION_RESULT_LENGTH} characters.
     */
    BOUNDED,
    /** Everywhere: the time and the random numbers are those of the log entry. */
    PINNED,
    /** Everywhere, but in a write only with an ORDER BY of its own. */
    ORDERED,
    /** Only in reads: the result depends on the session. */
    SESSION,
    /** Only in reads: the result depends on the replica, or the time it takes has no limit. */
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

  /** Returns why the function is refused, and what to write instead. */
  String explanation() {
    return Refusals.explanation(reason, instead);
  }
}
