package dev.tollgate.sql;

import static java.util.Objects.requireNonNull;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The shape of a statement, and the sizes of the values in its text. The list after IN, of literals
 * and parameters, is one position. Immutable.
 */
public final class StatementShape {
  private final long text;
  private final SizeRanges literals;
  private final int[] positionOfParameter;

  /**
   * @param positionOfParameter becomes a part of the shape
   */
  StatementShape(long text, SizeRanges literals, int[] positionOfParameter) {
    this.text = text;
    this.literals = requireNonNull(literals, "literals");
    this.positionOfParameter = requireNonNull(positionOfParameter, "positionOfParameter");
  }

  /**
   * A number that statements share which differ in the values of literals, in comments and in
   * spaces alone.
   */
  public long text() {
    return text;
  }

  /** How many positions have values. */
  public int positions() {
    return literals.positions();
  }

  /** The sizes of the literals, which must not be changed, and of the lists. */
  public SizeRanges literals() {
    return literals;
  }

  /** The position of a parameter, counted from 0. */
  public int positionOfParameter(int parameter) {
    return positionOfParameter[parameter];
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof StatementShape shape
        && text == shape.text
        && literals.equals(shape.literals)
        && Arrays.equals(positionOfParameter, shape.positionOfParameter);
  }

  @Override
  public int hashCode() {
    return Long.hashCode(text);
  }
}
