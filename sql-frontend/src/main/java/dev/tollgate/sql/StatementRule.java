package dev.tollgate.sql;

import static java.util.Objects.requireNonNull;

import dev.tollgate.sql.SqlRefused.Reason;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of the statements that begin with certain words.
 *
 * @param words the words, in upper case; those that may stand between them (OR REPLACE, TEMPORARY,
 *     IF EXISTS) are left out
 * @param refusal null when such statements are accepted
 * @param sentence for an accepted one what it does, for a refused one why it is refused
 * @param instead what to write in place of a refused one; empty where there is nothing
 * @param ignored whether an accepted one does nothing, whatever else stands in it
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

  /** The words as one would write them. */
  String name() {
    return String.join(" ", words);
  }

  /** Why it is refused, and what to do about it. */
  String explanation() {
    return Refusals.explanation(sentence, instead);
  }
}
