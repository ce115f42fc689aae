package dev.tollgate.sql;

import static java.util.Objects.requireNonNull;

import java.util.List;

/**
 * A value that a statement passes to Tollgate itself, not to H2. It is a literal, or a parameter of
 * the statement, whose value is known when the statement is executed.
 */
public sealed interface Argument {

  <R> R handledBy(Handler<R> handler);

  /** One method for each form of an argument. */
  interface Handler<R> {
    R integral(Integral integral);

    R text(Text text);

    R interval(Interval interval);

    R flag(Flag flag);

    R array(Array array);

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

  /** A day-time interval in milliseconds; a fraction of a millisecond is cut off. */
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

  /** ARRAY[...] of literals and parameters. */
  record Array(List<Argument> elements) implements Argument {
    public Array {
      elements = List.copyOf(elements);
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.array(this);
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
   * @param index counts all parameters of the statement as the client wrote it, from 0
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
