package dev.tollgate.sql;

import static java.util.Objects.requireNonNull;

/**
 * A value that a statement gives to Tollgate itself, not to H2: written out, or to be taken from
 * one of the statement's parameters when it is executed.
 */
public sealed interface Argument {

  <R> R handledBy(Handler<R> handler);

  /** One case for every form of an argument. */
  interface Handler<R> {
    R integral(Integral integral);

    R text(Text text);

    R interval(Interval interval);

    R flag(Flag flag);

    R nothing(Null nothing);

    R parameter(Parameter parameter);
  }

  /** An integer. */
  record Integral(long value) implements Argument {
    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.integral(this);
    }
  }

  /** A character string, without its quotes. */
  record Text(String value) implements Argument {
    public Text {
      requireNonNull(value, "value");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.text(this);
    }
  }

  /** A day-time interval; what is shorter than a millisecond is cut off. */
  record Interval(long millis) implements Argument {
    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.interval(this);
    }
  }

  /** TRUE or ON, FALSE or OFF. */
  record Flag(boolean value) implements Argument {
    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.flag(this);
    }
  }

  /** NULL. */
  record Null() implements Argument {
    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.nothing(this);
    }
  }

  /**
   * A parameter.
   *
   * @param index counts all parameters of the statement as it was written, from 0
   */
  record Parameter(int index) implements Argument {
    public Parameter {
      if (index < 0) {
        throw new IllegalArgumentException("index: " + index);
      }
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.parameter(this);
    }
  }
}
