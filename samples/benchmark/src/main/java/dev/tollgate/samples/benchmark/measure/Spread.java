package dev.tollgate.samples.benchmark.measure;

import java.util.Arrays;

/** The median, the least and the greatest of some numbers. */
public record Spread(double median, double least, double most) {
  /**
   * @throws IllegalArgumentException for no numbers at all
   */
  public static Spread of(double... values) {
    if (values.length == 0) {
      throw new IllegalArgumentException("no values");
    }
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    double median =
        sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    return new Spread(median, sorted[0], sorted[sorted.length - 1]);
  }

  /**
   * Returns the spread of the quotients round by round. A machine that is slow in one round
   * disturbs them less than it would the quotient of two medians.
   */
  public static Spread ofRatios(double[] numerators, double[] denominators) {
    if (numerators.length != denominators.length) {
      throw new IllegalArgumentException(
          numerators.length + " rounds of one, " + denominators.length + " of the other");
    }
    double[] ratios = new double[numerators.length];
    for (int i = 0; i < ratios.length; i++) {
      ratios[i] = numerators[i] / denominators[i];
    }
    return of(ratios);
  }
}
