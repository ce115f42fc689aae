package dev.tollgate.samples.torture.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HistoryTest {
  private final History history = new History();
  private long now;

  @Test
  void journalIsReadAsItWasWritten() {
    Journal journal = new Journal("c1", line -> assertTrue(history.add(line)), () -> now);
    now = 10;
    int acquire = journal.invoke(Action.ACQUIRE, "alpha", 0, 0);
    now = 20;
    journal.returned(acquire, Outcome.DONE, 42, "");
    journal.stalled(25, 35);
    now = 40;
    journal.invoke(Action.WRITE, "alpha", 42, 7);
    assertEquals(
        List.of(
            Operation.invoked("c1", 1, Action.ACQUIRE, "alpha", 0, 0, 10)
                .returned(20, Outcome.DONE, 42, ""),
            Operation.invoked("c1", 2, Action.WRITE, "alpha", 42, 7, 40)),
        history.operations());
    assertFalse(history.operations().get(1).hasReturned());
    assertEquals(
        List.of(new Interruption("c1", Interruption.Cause.STALLED, 25, 35)),
        history.interruptions());
  }

  @Test
  void otherLinesAreLeftToOthers() {
    assertFalse(history.add("stop\t7000"));
    assertEquals(List.of(), history.operations());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "invoke\tc1\t1\tACQUIRE\talpha\t0\t0",
        "invoke\tc1\t1\tACQUIRE\talpha\t0\t0\tten",
        "invoke\tc1\t1\tSTEAL\talpha\t0\t0\t10",
        "return\tc1\t1\tDONE\t42\t\t20",
        "stall\tc1\t25"
      })
  void brokenLinesAreNotOverlooked(String line) {
    assertThrows(IllegalArgumentException.class, () -> history.add(line));
  }

  @Test
  void answersBelongToOneCall() {
    assertTrue(history.add("invoke\tc1\t1\tACQUIRE\talpha\t0\t0\t10"));
    assertThrows(
        IllegalArgumentException.class,
        () -> history.add("invoke\tc1\t1\tACQUIRE\talpha\t0\t0\t11"));
    assertTrue(history.add("return\tc1\t1\tDONE\t42\t\t20"));
    assertThrows(
        IllegalArgumentException.class, () -> history.add("return\tc1\t1\tDONE\t42\t\t21"));
  }
}
