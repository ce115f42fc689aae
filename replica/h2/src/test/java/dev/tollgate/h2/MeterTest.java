package dev.tollgate.h2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a watch throws ends the work. */
class MeterTest {
  /** Looks only when it is told of a thousand steps, of a large piece, or of what is kept. */
  private static final class Ending implements Meter.Watch {
    final IllegalStateException end = new IllegalStateException("the end");

    @Override
    public long reached(long steps) {
      if (steps >= 1_000) {
        throw end;
      }
      return 1_000;
    }

    @Override
    public void allocates(long bytes) {
      throw end;
    }

    @Override
    public long retains(long bytes) {
      if (bytes > 0) {
        throw end;
      }
      return 1;
    }
  }

  static List<Runnable> looks() {
    return List.of(
        () -> Meter.steps(1_000),
        () -> Meter.allocates(Meter.LARGE_BYTES),
        () -> Meter.retains(new Object()));
  }

  @ParameterizedTest
  @MethodSource("looks")
  void workEndsAlsoIfItCatchesWhatTheWatchThrows(Runnable look) {
    Ending watch = new Ending();
    Meter.Work<String, RuntimeException> catching =
        () -> {
          assertSame(watch.end, assertThrows(RuntimeException.class, look::run));
          return "done";
        };
    assertSame(
        watch.end, assertThrows(RuntimeException.class, () -> Meter.watched(watch, catching)));
    assertEquals("done", Meter.watched(steps -> Long.MAX_VALUE, () -> "done"));
  }

  @Test
  void outerWorkGoesOnAfterAnInnerOneHasEnded() {
    Meter.Work<String, RuntimeException> ending =
        () -> {
          Meter.steps(1_000);
          return "";
        };
    String done =
        Meter.watched(
            steps -> Long.MAX_VALUE,
            () -> {
              assertThrows(RuntimeException.class, () -> Meter.watched(new Ending(), ending));
              return "done";
            });
    assertEquals("done", done);
  }
}
