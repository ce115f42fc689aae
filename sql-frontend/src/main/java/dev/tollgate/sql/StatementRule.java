package dev.tollgate.sql;

import static java.util.Objects.requireNonNull;

import dev.tollgate.sql.SqlRefused.Reason;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How Tollgate treats the statements that begin with certain words.
 *
 * @param words the words, in upper case, without the modifiers after CREATE (OR REPLACE, TEMPORARY)
 * @param refusal null if such statements are accepted
 * @param sentence what an accepted statement does, or why a statement is refused
 * @param instead what to write in place of a refused statement; empty if there is nothing
 * @param ignored whether an accepted statement does nothing, whatever else it contains
 */
record StatementRule(
    List<String> words,
    @Nullable Reason refusal,
    String sentence,
    String instead,
    boolean ignored) {

  StatementRule {
    words = List.copyOf(words);
    requireNonNull(sentence, "sentence");
    requireNonNull(instead, "instead");
  }

  boolean isAccepted() {
    return refusal == null;
  }

  /** The words as a client would write them. */
  String name() {
    return String.join(" ", words);
  }

  /** Returns why the statement is refused, and what to write instead. */
  String explanation() {
    return Refusals.explanation(sentence, instead);
  }
}
