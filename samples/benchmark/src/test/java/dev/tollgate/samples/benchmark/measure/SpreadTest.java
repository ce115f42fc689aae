package dev.tollgate.samples.benchmark.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class SpreadTest {
  @Test
  void medianOfAnOddNumberIsTheOneInTheMiddle() {
    assertEquals(new Spread(5, 1, 9), Spread.of(9, 1, 5));
  }

  @Test
  void medianOfAnEvenNumberLiesBetweenTheTwoInTheMiddle() {
    assertEquals(new Spread(3, 1, 10), Spread.of(10, 4, 1, 2));
  }

  @Test
  void ratiosAreTakenRoundByRound() {
    // the second round ran on a machine half as fast: the quotient of the medians would be 1.5
    Spread ratios = Spread.ofRatios(new double[] {100, 200, 150}, new double[] {100, 200, 50});
    assertEquals(new Spread(1, 1, 3), ratios);
  }

  @Test
  void noValuesHaveNoMiddle() {
    assertThrows(IllegalArgumentException.class, Spread::of);
  }

  @Test
  void roundsThatOneOfThemLacksAreNoRatio() {
    assertThrows(
        IllegalArgumentException.class,
        () -> Spread.ofRatios(new double[] {1, 2}, new double[] {1}));
  }
}
