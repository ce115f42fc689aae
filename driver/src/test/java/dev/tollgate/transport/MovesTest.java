package dev.tollgate.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class MovesTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final Moves moves = new Moves();

  @Test
  void thousandsOfSessionsThatMoveWithinASecondAreOneLine() {
    for (int i = 0; i < 5_000; i++) {
      moves.add(i % 10 == 0 ? "b:7400" : "a:7400", i % 4_000, i);
    }
    assertEquals(Optional.empty(), moves.due(SECOND - 1));
    assertEquals(
        Optional.of("sessions moved: 4500 to a:7400, 500 to b:7400, found in at most 3999 ms"),
        moves.due(SECOND));
    assertEquals(Optional.empty(), moves.due(10 * SECOND));
  }

  @Test
  void lineTellsOfWhatMovedSinceTheLastOneAlone() {
    moves.add("a:7400", 300, 0);
    moves.due(SECOND);
    moves.add("b:7400", 20, 5 * SECOND);
    assertEquals(Optional.empty(), moves.due(6 * SECOND - 1));
    assertEquals(
        Optional.of("sessions moved: 1 to b:7400, found in at most 20 ms"), moves.due(6 * SECOND));
  }
}
