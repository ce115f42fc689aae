package dev.tollgate.store.statement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.StalledError;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
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

  /** A query that never ends, and that a definition has ended before. */
  private final class Repeated implements ReaderGate.Query {
    @Override
    public boolean runsAgain() {
      return true;
    }

    @Override
    public void cancelForDefinition() {
      gate.leave(this);
    }
  }

  /** Lets a definition meet a query that has begun; how long the definition waited. */
  private long waitMillis() {
    return waitMillis(new Endless());
  }

  private long waitMillis(ReaderGate.Query query) {
    gate.enter(query);
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
  void queryThatRunsAgainHasTimeAlthoughTheSharedPatienceIsSpent() {
    for (int i = 0; i < 3; i++) {
      waitMillis();
    }
    assertTrue(waitMillis(new Repeated()) >= 950);
  }

  @Test
  void queriesThatRunAgainShareTheirTimeToo() {
    long inAll = 0;
    for (int i = 0; i < 10; i++) {
      inAll += waitMillis(new Repeated());
    }
    // 1.5 seconds, and a tenth of what the definitions waited; ten times as much without a share
    assertTrue(inAll < 4_000, inAll + " ms");
  }

  /**
   * Definitions that wait for less than queries need would end them all the same, and what comes
   * back of the time would never add up.
   */
  @Test
  void timeForQueriesThatRunAgainIsKeptUntilItIsWhole() {
    waitMillis(new Repeated());
    long inAll = 0;
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(1_500);
    while (System.nanoTime() < end) {
      inAll += waitMillis(new Repeated());
    }
    assertTrue(inAll < 800, inAll + " ms");
  }

  @Test
  void queryThatRunsAgainDoesNotSpareTheOthers() {
    ReaderGate.Query again = new Repeated();
    gate.enter(again);
    gate.enter(
        new ReaderGate.Query() {
          @Override
          public void cancelForDefinition() {
            gate.leave(this);
            gate.leave(again);
          }
        });
    long begun = System.nanoTime();
    gate.closeForDefinition();
    gate.open();
    assertTrue(System.nanoTime() - begun < TimeUnit.MILLISECONDS.toNanos(1_400));
  }

  /** A query that ends only when it must. */
  private static final class Insistent implements ReaderGate.Query {
    private final ReaderGate gate;
    private int cancellations;

    Insistent(ReaderGate gate) {
      this.gate = gate;
      gate.enter(this);
    }

    @Override
    public void cancelForDefinition() {
      cancellations++;
    }

    @Override
    public void endForDefinition() {
      gate.leave(this);
    }
  }

  @Test
  void definitionEndsWhatInsists() {
    ReaderGate strict = new ReaderGate(/* endMillis= */ 700, /* stopMillis= */ 50_000);
    Insistent query = new Insistent(strict);
    strict.closeForDefinition();
    assertTrue(query.cancellations > 0);
    strict.open();
  }

  @Test
  void definitionGivesUpWhatDoesNotEnd() throws Exception {
    ReaderGate strict = new ReaderGate(/* endMillis= */ 100, /* stopMillis= */ 200);
    Thread brings = new Thread(() -> strict.enter(() -> {}), "brings-a-query");
    brings.start();
    brings.join();
    StalledError stalled = assertThrows(StalledError.class, strict::closeForDefinition);
    assertTrue(stalled.getMessage().contains("1 queries"), stalled.getMessage());
    assertTrue(stalled.getCause().getMessage().contains("brings-a-query"));
    assertThrows(StalledError.class, strict::closeForDefinition);
  }

  @Test
  void definitionDoesNotWaitWithoutQueries() {
    long begun = System.nanoTime();
    gate.closeForDefinition();
    gate.open();
    assertTrue(System.nanoTime() - begun < TimeUnit.MILLISECONDS.toNanos(400));
  }

  /**
   * It would be canceled too, and so a query that is repeated would be canceled again and again.
   */
  @Test
  void queryThatComesWhileADefinitionWaitsHasToWait() throws Exception {
    List<String> order = Collections.synchronizedList(new ArrayList<>());
    ReaderGate.Query later = () -> order.add("the later query is canceled");
    Thread comes =
        new Thread(
            () -> {
              gate.enter(later);
              order.add("the later query begins");
              gate.leave(later);
            });
    ReaderGate.Query first =
        new ReaderGate.Query() {
          @Override
          public void cancelForDefinition() {
            comes.start();
            Awaitility.await()
                .until(() -> !order.isEmpty() || comes.getState() == Thread.State.WAITING);
            gate.leave(this);
          }
        };
    gate.enter(first);
    gate.closeForDefinition();
    order.add("the definition begins");
    gate.open();
    comes.join();
    assertEquals(List.of("the definition begins", "the later query begins"), order);
  }
}
