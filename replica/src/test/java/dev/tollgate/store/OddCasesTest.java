package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.store.OddRun.Fault;
import dev.tollgate.store.OddRun.Step;
import dev.tollgate.store.OddStatements.Odd;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Statements that have stopped or spoiled replicas do so no longer: each case of {@code
 * odd-cases.sql} on three replicas of its own, of which one is restored after each statement. So
 * are the statements of the other corpora, of which each replica takes the same steps.
 */
class OddCasesTest {
  private static final int STATEMENTS_PER_SNAPSHOT = 7;
  private static final long ENDLESS_SECONDS = 60;
  private static final long STACK_BYTES = 16 << 20;

  @TestFactory
  Stream<DynamicTest> noCaseStopsOrSpoilsAReplica() throws IOException {
    Map<String, List<Odd>> cases = Corpora.oddCases();
    assertTrue(cases.size() > 50, cases.size() + " cases");
    return cases.entrySet().stream()
        .map(entry -> DynamicTest.dynamicTest(entry.getKey(), () -> run(entry.getValue(), 1)));
  }

  @Test
  void replicasAreEqualAfterWhatToolsSend() throws Exception {
    run(Corpora.ofTools(), STATEMENTS_PER_SNAPSHOT);
  }

  @Test
  void replicasAreEqualAfterChoices() throws Exception {
    run(Corpora.choices(), STATEMENTS_PER_SNAPSHOT);
  }

  private static void run(List<Odd> statements, int statementsPerSnapshot) throws Exception {
    List<Step> steps = new ArrayList<>();
    for (Odd odd : statements) {
      steps.add(new Step(odd));
      if (steps.size() % (statementsPerSnapshot + 1) == statementsPerSnapshot) {
        steps.add(Step.SNAPSHOT);
      }
    }
    CompletableFuture<Fault> fault = new CompletableFuture<>();
    Thread thread =
        new Thread(
            null,
            () -> {
              try {
                fault.complete(OddRun.play(steps, step -> {}));
              } catch (Throwable e) {
                fault.completeExceptionally(e);
              }
            },
            "odd case",
            STACK_BYTES);
    thread.setDaemon(true);
    thread.start();
    Fault found = fault.get(ENDLESS_SECONDS, TimeUnit.SECONDS);
    if (found != null) {
      throw found;
    }
  }
}
