package dev.tollgate.store.limits;

import dev.tollgate.core.command.Limits;
import dev.tollgate.store.h2.Exhausted;
import dev.tollgate.store.h2.H2Functions;
import dev.tollgate.store.statement.StatementMeter;
import dev.tollgate.store.statement.StoreCommand;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.h2.engine.SessionLocal;
import org.h2.expression.Expression;
import org.h2.expression.condition.CompareLike;
import org.h2.expression.function.RegexpFunction;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/**
 * The value that LIKE, REGEXP or a function REGEXP_... searches. The meter makes the search once
 * before H2 does, and counts its steps. A pattern can be made to take forever, and H2 cannot be
 * interrupted meanwhile.
 *
 * <p>{@link LikeSteps} takes the steps of LIKE by H2's algorithm, so their number is the same on
 * every replica. The steps of a regular expression are the characters that the Java runtime reads.
 * The SQL front-end keeps regular expressions out of what is applied.
 */
final class MatchMeter extends MeteredExpression {
  private final SeenPattern pattern;
  private final boolean regular;
  private final @Nullable Expression escape;

  private MatchMeter(
      Expression value, SeenPattern pattern, boolean regular, @Nullable Expression escape) {
    super(value);
    this.pattern = pattern;
    this.regular = regular;
    this.escape = escape;
  }

  static void attach(CompareLike like) {
    if (!has(like.getSubexpression(0), MatchMeter.class)) {
      SeenPattern pattern = new SeenPattern(like.getSubexpression(1));
      Expression escape = like.getSubexpressionCount() > 2 ? like.getSubexpression(2) : null;
      boolean regular = H2Functions.isRegular(like);
      H2Functions.replaceOperands(
          like, new MatchMeter(like.getSubexpression(0), pattern, regular, escape), pattern);
    }
  }

  static void attach(RegexpFunction function) {
    Expression[] arguments = H2Functions.arguments(function);
    if (!has(arguments[0], MatchMeter.class)) {
      SeenPattern pattern = new SeenPattern(arguments[1]);
      arguments[0] = new MatchMeter(arguments[0], pattern, /* regular= */ true, null);
      arguments[1] = pattern;
    }
  }

  @Override
  public Value getValue(SessionLocal session) {
    Value value = metered().getValue(session);
    StatementMeter meter = StoreCommand.meterOf(session);
    if (meter != null && value.getValueType() != Value.NULL) {
      Value searched = pattern.look(session);
      if (searched.getValueType() != Value.NULL) {
        Steps steps = new Steps(meter);
        if (regular) {
          takeSteps(value.getString(), searched.getString(), steps);
        } else {
          Value escaped = escape == null ? null : escape.getValue(session);
          LikeSteps.take(value.getString(), searched.getString(), escapeOf(escaped), steps);
        }
      }
    }
    return value;
  }

  private static @Nullable Character escapeOf(@Nullable Value escape) {
    if (escape == null) {
      return '\\';
    }
    String text = escape.getString();
    return text == null || text.isEmpty() ? null : text.charAt(0);
  }

  private static void takeSteps(String value, String expression, Steps steps) {
    try {
      Matcher matcher =
          Pattern.compile(expression, Pattern.UNICODE_CASE | Pattern.CASE_INSENSITIVE)
              .matcher(new CountedText(value, steps));
      while (matcher.find()) {
        steps.take();
      }
    } catch (PatternSyntaxException e) {
      // H2 will report the error in its own words
      steps.take();
    }
  }

  /** Counts the steps of one match, and reports them to the meter of its statement. */
  static final class Steps {
    private final StatementMeter meter;
    private long taken;

    Steps(StatementMeter meter) {
      this.meter = meter;
    }

    void take() {
      taken++;
      if (taken % StatementMeter.STEPS_PER_ROW == 0) {
        meter.stepped(StatementMeter.STEPS_PER_ROW);
        if (taken > Limits.PATTERN_STEPS) {
          throw Exhausted.work(
              "the statement was ended and changed nothing, because one LIKE, regular expression or"
                  + " search took more than "
                  + Limits.PATTERN_STEPS
                  + " steps on one value: use fewer wildcards or repetitions, or shorter values");
        }
      }
    }
  }

  /** A text that counts how often it is read. */
  private record CountedText(String text, Steps steps) implements CharSequence {
    @Override
    public int length() {
      return text.length();
    }

    @Override
    public char charAt(int index) {
      steps.take();
      return text.charAt(index);
    }

    @Override
    public CharSequence subSequence(int start, int end) {
      return new CountedText(text.substring(start, end), steps);
    }

    @Override
    public String toString() {
      return text;
    }
  }

  /**
   * The pattern of a match. Unless the pattern is a constant, H2 evaluates it after the value. The
   * meter has evaluated the pattern before that, and H2 gets the value that the meter saw: the
   * pattern may be a random number.
   */
  private static final class SeenPattern extends MeteredExpression {
    private @Nullable Value seen;

    SeenPattern(Expression pattern) {
      super(pattern);
    }

    Value look(SessionLocal session) {
      seen = metered().getValue(session);
      return seen;
    }

    @Override
    public Value getValue(SessionLocal session) {
      Value value = seen == null ? metered().getValue(session) : seen;
      seen = null;
      return value;
    }
  }
}
