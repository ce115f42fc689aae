package dev.tollgate.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.store.OddRun.Fault;
import dev.tollgate.store.OddRun.Step;
import dev.tollgate.store.OddStatements.Odd;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Statements that have stopped or spoiled replicas do so no longer: each case of {@code
 * odd-cases.sql} on three replicas of its own, of which one is restored after each statement.
 */
class OddCasesTest {
  private static final String CASE = "-- case: ";
  private static final long ENDLESS_SECONDS = 60;
  private static final long STACK_BYTES = 16 << 20;

  @TestFactory
  Stream<DynamicTest> noCaseStopsOrSpoilsAReplica() throws IOException {
    Map<String, List<String>> cases = cases();
    assertTrue(cases.size() > 50, cases.size() + " cases");
    return cases.entrySet().stream()
        .map(entry -> DynamicTest.dynamicTest(entry.getKey(), () -> run(entry.getValue())));
  }

  private static void run(List<String> statements) throws Exception {
    List<Step> steps = new ArrayList<>();
    for (String sql : statements) {
      steps.add(new Step(Odd.of(sql)));
      steps.add(Step.SNAPSHOT);
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

  private static Map<String, List<String>> cases() throws IOException {
    Map<String, List<String>> cases = new LinkedHashMap<>();
    List<String> statements = List.of();
    try (InputStream in =
        Objects.requireNonNull(OddCasesTest.class.getResourceAsStream("/odd-cases.sql"))) {
      for (String line : new String(in.readAllBytes(), UTF_8).split("\n", -1)) {
        if (line.startsWith(CASE)) {
          statements = new ArrayList<>();
          cases.put(line.substring(CASE.length()), statements);
        } else if (!line.isBlank() && !line.startsWith("--")) {
          statements.add(line);
        }
      }
    }
    return cases;
  }
}
