package dev.tollgate.store.limits;

import dev.tollgate.store.h2.H2Functions;
import dev.tollgate.store.statement.StatementMeter;
import dev.tollgate.store.statement.StoreCommand;
import org.h2.engine.SessionLocal;
import org.h2.expression.Expression;
import org.h2.expression.function.JavaFunction;
import org.h2.expression.function.StringFunction;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/**
 * The second argument of a function that searches one text for another: LOCATE, which INSTR and
 * POSITION are too, REPLACE and TRANSLATE. The meter makes the search once before H2 does, and
 * counts its steps. Two texts of a megabyte can take minutes, and H2 cannot be interrupted
 * meanwhile.
 */
final class SearchMeter extends MeteredExpression {
  /** A search that cannot take more steps is not worth counting. */
  private static final long CHEAP_STEPS = 1_024;

  /** Characters that the processor compares with one character in one step. */
  private static final int CHARS_PER_STEP = 16;

  private enum Search {
    LOCATE,
    REPLACE,
    TRANSLATE
  }

  private final First first;
  private final Search search;

  private SearchMeter(First first, Expression second, Search search) {
    super(second);
    this.first = first;
    this.search = search;
  }

  static void attach(StringFunction function) {
    attach(function.getName(), H2Functions.arguments(function));
  }

  /** Clients have no Java functions except those of schema TOLLGATE. */
  static void attach(JavaFunction function) {
    attach(function.getName(), H2Functions.arguments(function));
  }

  private static void attach(String function, Expression[] arguments) {
    Search search =
        switch (function) {
          case "LOCATE" -> Search.LOCATE;
          case "REPLACE" -> Search.REPLACE;
          case "TRANSLATE" -> Search.TRANSLATE;
          default -> null;
        };
    if (search != null && !has(arguments[1], SearchMeter.class)) {
      First first = new First(arguments[0]);
      arguments[0] = first;
      arguments[1] = new SearchMeter(first, arguments[1], search);
    }
  }

  @Override
  public Value getValue(SessionLocal session) {
    Value second = metered().getValue(session);
    Value before = first.take();
    StatementMeter meter = StoreCommand.meterOf(session);
    if (meter != null
        && before != null
        && before.getValueType() != Value.NULL
        && second.getValueType() != Value.NULL) {
      takeSteps(before.getString(), second.getString(), new MatchMeter.Steps(meter));
    }
    return second;
  }

  private void takeSteps(String before, String second, MatchMeter.Steps steps) {
    if ((long) before.length() * second.length() > CHEAP_STEPS) {
      switch (search) {
        case LOCATE -> look(second, before, /* goOn= */ false, steps);
        case REPLACE -> look(before, second, /* goOn= */ true, steps);
        case TRANSLATE -> lookUp(before, second, steps);
      }
    }
  }

  /**
   * Compares at every position of the text until the wanted text is found.
   *
   * @param goOn whether to go on after that, and find it as often as possible
   */
  private static void look(String text, String wanted, boolean goOn, MatchMeter.Steps steps) {
    int at = 0;
    while (at + wanted.length() <= text.length()) {
      int same = 0;
      steps.take();
      while (same < wanted.length() && text.charAt(at + same) == wanted.charAt(same)) {
        steps.take();
        same++;
      }
      boolean found = same == wanted.length();
      if (found && !goOn) {
        return;
      }
      at += found ? Math.max(same, 1) : 1;
    }
  }

  /** Looks up each character of the text among other characters. */
  private static void lookUp(String text, String characters, MatchMeter.Steps steps) {
    long all = text.length() * (1L + characters.length() / CHARS_PER_STEP);
    for (long i = 0; i < all; i++) {
      steps.take();
    }
  }

  /** The first argument, which H2 evaluates before the second. */
  private static final class First extends MeteredExpression {
    private @Nullable Value seen;

    First(Expression first) {
      super(first);
    }

    @Nullable Value take() {
      Value value = seen;
      seen = null;
      return value;
    }

    @Override
    public Value getValue(SessionLocal session) {
      Value value = metered().getValue(session);
      seen = value;
      return value;
    }
  }
}
