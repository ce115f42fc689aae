package dev.tollgate.samples.torture.fault;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ScheduleTest {
  private static final int ROUNDS = 20;

  private static List<Schedule.Step> steps(long seed) {
    Schedule schedule = new Schedule(seed, EnumSet.allOf(FaultKind.class));
    return Stream.generate(schedule::next)
        .limit((long) ROUNDS * FaultKind.values().length)
        .toList();
  }

  @Test
  void seedSaysAll() {
    assertEquals(steps(17), steps(17));
    assertNotEquals(steps(17), steps(18));
  }

  @Test
  void everyKindComesOnceARound() {
    List<Schedule.Step> steps = steps(17);
    int kinds = FaultKind.values().length;
    for (int round = 0; round < ROUNDS; round++) {
      Set<FaultKind> found =
          steps.subList(round * kinds, (round + 1) * kinds).stream()
              .map(Schedule.Step::kind)
              .collect(Collectors.toSet());
      assertEquals(EnumSet.allOf(FaultKind.class), found);
    }
  }
}
