package dev.tollgate.store.statement;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ReaderGateTest {
  private final ReaderGate gate = new ReaderGate();

  /** A query that never ends unless it is canceled. */
  private final class Endless implements ReaderGate.Query {
    @Override
    public void cancelForDefinition() {
      gate.leave(this);
    }
  }

  /** Lets a definition meet a query that has begun; how long the definition waited. */
  private long waitMillis() {
    gate.enter(new Endless());
    long begun = System.nanoTime();
    gate.closeForDefinition();
    long waited = System.nanoTime() - begun;
    gate.open();
    return TimeUnit.NANOSECONDS.toMillis(waited);
  }

  @Test
  void definitionGivesAQueryTimeToEnd() {
    assertTrue(waitMillis() >= 490);
  }

  @Test
  void definitionsShareTheirPatience() {
    long inAll = 0;
    for (int i = 0; i < 10; i++) {
      inAll += waitMillis();
    }
    // half a second, and a tenth of that; ten times as much without a share
    assertTrue(inAll < 2_000, inAll + " ms");
  }

  @Test
  void definitionDoesNotWaitWithoutQueries() {
    long begun = System.nanoTime();
    gate.closeForDefinition();
    gate.open();
    assertTrue(System.nanoTime() - begun < TimeUnit.MILLISECONDS.toNanos(400));
  }
}
