package dev.tollgate.node.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Limits;
import java.util.List;
import org.junit.jupiter.api.Test;

class LineSharesTest {
  private static final long SECOND = 1_000_000;

  private final LineShares failures = new LineShares("login_failures", "address");

  /** Returns how many of them have a line. */
  private int fail(String address, int count, long nowMicros) {
    int lines = 0;
    for (int i = 0; i < count; i++) {
      lines += failures.takesLine(address, nowMicros) ? 1 : 0;
    }
    return lines;
  }

  @Test
  void firstFailuresOfAnAddressHaveLinesAndTheOthersOne() {
    assertEquals(Limits.AUDITED_REPEATS, fail("a", 1_000, 7));
    assertEquals(2, fail("b", 2, SECOND));
    assertEquals(List.of(), failures.takeDue(60 * SECOND));
    long rest = 1_000 - Limits.AUDITED_REPEATS;
    assertEquals(List.of(new LineShares.Sum("a", 7, rest)), failures.takeDue(60 * SECOND + 7));
    assertEquals(List.of(), failures.takeDue(70 * SECOND), "b has had its lines");
    assertTrue(failures.takesLine("a", 70 * SECOND), "another minute");
  }

  @Test
  void manyAddressesHaveNotManyLines() {
    int lines = 0;
    int addresses = 3 * Limits.AUDITED_REPEATERS;
    for (int i = 0; i < addresses; i++) {
      lines += fail("a" + i, 10, 0);
    }
    assertEquals(Limits.AUDITED_REPEATS_IN_ALL, lines);
    List<LineShares.Sum> sums = failures.takeAll();
    assertEquals(10L * addresses, lines + sums.stream().mapToLong(s -> s.count()).sum());
    assertTrue(sums.size() <= Limits.AUDITED_REPEATERS + 1, () -> sums.size() + " lines");
    assertEquals(LineShares.OTHERS, sums.get(sums.size() - 1).of());
  }

  @Test
  void clockThatIsSetBackEndsAMinute() {
    fail("a", 10, 100 * SECOND);
    assertEquals(1, failures.takeDue(50 * SECOND).size());
    assertFalse(failures.takeAll().iterator().hasNext());
  }
}
