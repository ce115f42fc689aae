package dev.tollgate.store.limits;

import dev.tollgate.store.h2.Exhausted;
import org.jspecify.annotations.Nullable;

/**
 * The steps that H2 takes to match a value against a LIKE pattern. For each wildcard H2 tries every
 * position of the value, and calls itself.
 */
final class LikeSteps {
  private static final int CHARACTER = 0;
  private static final int ONE = 1;
  private static final int ANY = 2;

  /** Most wildcards that H2 has to look for: it needs a part of the stack for each of them. */
  private static final int MAX_WILDCARDS = 100;

  private final String value;
  private final MatchMeter.Steps steps;
  private final char[] characters;
  private final int[] kinds;
  private int length;
  private int wildcards;

  private LikeSteps(String value, int patternChars, MatchMeter.Steps steps) {
    this.value = value;
    this.steps = steps;
    characters = new char[patternChars];
    kinds = new int[patternChars];
  }

  /**
   * Takes the steps.
   *
   * @param escape the character before a wildcard that stands for itself, or null
   * @throws org.h2.message.DbException if there are too many steps or wildcards
   */
  static void take(
      String value, String pattern, @Nullable Character escape, MatchMeter.Steps steps) {
    LikeSteps like = new LikeSteps(value, pattern.length(), steps);
    if (!like.read(pattern, escape) || like.isQuick()) {
      return;
    }
    if (like.wildcards > MAX_WILDCARDS) {
      throw Exhausted.work(
          "a LIKE pattern may have at most "
              + MAX_WILDCARDS
              + " '%' that H2 has to look for, not "
              + like.wildcards);
    }
    like.matches(0, 0);
  }

  /** Reads the pattern as H2 does; false if it ends with an escape character. */
  private boolean read(String pattern, @Nullable Character escape) {
    boolean afterAny = false;
    for (int i = 0; i < pattern.length(); i++) {
      char c = pattern.charAt(i);
      int kind;
      if (escape != null && escape == c) {
        if (++i == pattern.length()) {
          return false;
        }
        c = pattern.charAt(i);
        kind = CHARACTER;
        afterAny = false;
      } else if (c == '%') {
        if (afterAny) {
          continue;
        }
        kind = ANY;
        afterAny = true;
        wildcards++;
      } else if (c == '_') {
        kind = ONE;
      } else {
        kind = CHARACTER;
        afterAny = false;
      }
      kinds[length] = kind;
      characters[length++] = c;
    }
    for (int i = 0; i < length - 1; i++) {
      if (kinds[i] == ANY && kinds[i + 1] == ONE) {
        kinds[i] = ONE;
        kinds[i + 1] = ANY;
      }
    }
    return true;
  }

  /**
   * Returns whether H2 needs one look at the value: the pattern has no '%', or one at its beginning
   * or end and no '_'.
   */
  private boolean isQuick() {
    return wildcards == 0
        || (wildcards == 1 && (kinds[0] == ANY || kinds[length - 1] == ANY) && !hasOne());
  }

  private boolean hasOne() {
    for (int i = 0; i < length; i++) {
      if (kinds[i] == ONE) {
        return true;
      }
    }
    return false;
  }

  /** Ignores case, so H2 may take fewer steps than counted here, not more. */
  private boolean isAt(int patternIndex, int valueIndex) {
    steps.take();
    char wanted = characters[patternIndex];
    char found = value.charAt(valueIndex);
    return wanted == found || Character.toLowerCase(wanted) == Character.toLowerCase(found);
  }

  private boolean matches(int patternFrom, int valueFrom) {
    int at = valueFrom;
    for (int i = patternFrom; i < length; i++) {
      switch (kinds[i]) {
        case CHARACTER -> {
          if (at >= value.length() || !isAt(i, at++)) {
            return false;
          }
        }
        case ONE -> {
          if (at++ >= value.length()) {
            return false;
          }
        }
        default -> {
          return i + 1 == length || matchesSomewhere(i + 1, at);
        }
      }
    }
    return at == value.length();
  }

  private boolean matchesSomewhere(int patternFrom, int valueFrom) {
    for (int at = valueFrom; at < value.length(); at++) {
      if (isAt(patternFrom, at) && matches(patternFrom, at)) {
        return true;
      }
    }
    return false;
  }
}
