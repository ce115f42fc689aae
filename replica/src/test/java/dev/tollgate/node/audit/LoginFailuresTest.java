package dev.tollgate.node.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Limits;
import java.util.List;
import org.junit.jupiter.api.Test;

class LoginFailuresTest {
  private static final long SECOND = 1_000_000;

  private final LoginFailures failures = new LoginFailures();

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
    assertEquals(Limits.AUDITED_FAILURES_PER_ADDRESS, fail("a", 1_000, 7));
    assertEquals(2, fail("b", 2, SECOND));
    assertEquals(List.of(), failures.takeDue(60 * SECOND));
    long rest = 1_000 - Limits.AUDITED_FAILURES_PER_ADDRESS;
    assertEquals(List.of(new LoginFailures.Sum("a", 7, rest)), failures.takeDue(60 * SECOND + 7));
    assertEquals(List.of(), failures.takeDue(70 * SECOND), "b has had its lines");
    assertTrue(failures.takesLine("a", 70 * SECOND), "another minute");
  }

  @Test
  void manyAddressesHaveNotManyLines() {
    int lines = 0;
    int addresses = 3 * Limits.AUDITED_ADDRESSES;
    for (int i = 0; i < addresses; i++) {
      lines += fail("a" + i, 10, 0);
    }
    assertEquals(Limits.AUDITED_FAILURES, lines);
    List<LoginFailures.Sum> sums = failures.takeAll();
    assertEquals(10L * addresses, lines + sums.stream().mapToLong(s -> s.failures()).sum());
    assertTrue(sums.size() <= Limits.AUDITED_ADDRESSES + 1, () -> sums.size() + " lines");
    assertEquals(LoginFailures.OTHERS, sums.get(sums.size() - 1).address());
  }

  @Test
  void clockThatIsSetBackEndsAMinute() {
    fail("a", 10, 100 * SECOND);
    assertEquals(1, failures.takeDue(50 * SECOND).size());
    assertFalse(failures.takeAll().iterator().hasNext());
  }
}
