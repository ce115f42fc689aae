package dev.tollgate.differential;

import java.util.ArrayList;
import java.util.List;

/** What two databases gave for one statement, as {@link Side} tells it. */
final class Answers {
  /** States of statements that Tollgate does not run: refused, not supported, too much work. */
  private static final List<String> REFUSED =
      List.of("state 42T01", "state HYC00", "state 54001", "state 54000");

  /** What a view says whose tables or columns are gone; after a restart H2 has noticed before. */
  private static final List<String> BROKEN_VIEW =
      List.of("state 90109", "state 42S02", "state 42S22");

  private Answers() {}

  static boolean isRefused(List<String> ours) {
    return REFUSED.contains(ours.get(0));
  }

  /** Equal in states, counts, types and rows. */
  static boolean isSame(List<String> ours, List<String> theirs) {
    return isSameState(ours, theirs) || ours.equals(withTypesOf(ours, theirs));
  }

  private static boolean isSameState(List<String> ours, List<String> theirs) {
    return ours.get(0).startsWith("state")
        && (ours.get(0).equals(theirs.get(0)) || (isBrokenView(ours) && isBrokenView(theirs)));
  }

  static boolean isBrokenView(List<String> answer) {
    return BROKEN_VIEW.contains(answer.get(0));
  }

  /**
   * A column that is always null may be told to be of type NULL, which H2 knows later or sooner. An
   * array whose elements H2 does not know is one of NULL.
   */
  private static List<String> withTypesOf(List<String> ours, List<String> theirs) {
    String[] types = ours.get(0).split("\t", -1);
    String[] other = theirs.get(0).split("\t", -1);
    for (int i = 0; i < other.length && other.length == types.length; i++) {
      boolean unknown =
          types[i].equals("NULL") || (types[i].equals("NULL ARRAY") && other[i].equals("ARRAY"));
      other[i] = unknown ? types[i] : other[i];
    }
    List<String> changed = new ArrayList<>(theirs);
    changed.set(0, String.join("\t", other));
    return changed;
  }
}
