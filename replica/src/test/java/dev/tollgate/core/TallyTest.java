package dev.tollgate.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;

class TallyTest {
  private final Tally tally = new Tally(10, 20);

  @Test
  void valuesCountAtTheFirstBoundThatIsNotBelowThem() {
    for (long value : new long[] {-3, 10, 11, 20, 21, 1_000}) {
      tally.add(value);
    }
    Tally.Count count = tally.count();
    assertEquals(List.of(2L, 2L, 2L), count.counts());
    assertEquals(1_059, count.sum());
    assertEquals(6, count.total());
  }

  @Test
  void countStaysAsItIs() {
    tally.add(1);
    Tally.Count before = tally.count();
    tally.add(1);
    assertEquals(List.of(1L, 0L, 0L), before.counts());
    assertEquals(2, tally.count().total());
  }

  @Test
  void boundsAscend() {
    assertThrows(IllegalArgumentException.class, () -> new Tally(1, 1));
  }
}
