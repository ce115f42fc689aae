package dev.tollgate.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** The cache, and many callers at once. */
class SqlFrontendTest {

  @Test
  void planIsKept() {
    SqlFrontend frontend = new SqlFrontend(10);
    assertNull(frontend.cached("SELECT 1"));
    Plan plan = frontend.plan("SELECT 1");
    assertSame(plan, frontend.plan("SELECT 1"));
    assertSame(plan, frontend.cached("SELECT 1"));
    assertNull(frontend.cached("SELECT  1"));
  }

  @Test
  void planThatWasNotUsedForTheLongestTimeMakesRoom() {
    SqlFrontend frontend = new SqlFrontend(2);
    frontend.plan("SELECT 1");
    frontend.plan("SELECT 2");
    frontend.plan("SELECT 1");
    frontend.plan("SELECT 3");
    assertNotNull(frontend.cached("SELECT 1"));
    assertNull(frontend.cached("SELECT 2"));
    assertNotNull(frontend.cached("SELECT 3"));
  }

  @Test
  void cacheOfNothingKeepsNothing() {
    SqlFrontend frontend = new SqlFrontend(0);
    frontend.plan("SELECT 1");
    assertNull(frontend.cached("SELECT 1"));
  }

  @Test
  void longStatementIsNotKept() {
    SqlFrontend frontend = new SqlFrontend(10);
    String longest = "SELECT " + " ".repeat(SqlLimits.CACHED_STATEMENT_LENGTH - 8) + "1";
    frontend.plan(longest);
    assertNotNull(frontend.cached(longest));
    frontend.plan(longest + " ");
    assertNull(frontend.cached(longest + " "));
  }

  @Test
  void refusalIsNotKept() {
    SqlFrontend frontend = new SqlFrontend(10);
    assertThrows(SqlRefused.class, () -> frontend.plan("SELECT SLEEP(1)"));
    assertNull(frontend.cached("SELECT SLEEP(1)"));
  }

  @Test
  void warmUpLeavesTheCacheAlone() {
    SqlFrontend frontend = new SqlFrontend(10);
    frontend.warmUp();
    for (String sql : WarmUp.STATEMENTS) {
      assertNull(frontend.cached(sql));
    }
  }

  @Test
  void plansAreTheSameWhenManyPlanAtOnce() throws InterruptedException, ExecutionException {
    List<String> statements = new ArrayList<>(Corpus.all("/tools.sql"));
    statements.addAll(Corpus.all("/dialect.sql"));
    SqlFrontend alone = new SqlFrontend(0);
    List<Plan> expected = statements.stream().map(alone::plan).toList();

    // smaller than the corpus, so that plans come and go
    SqlFrontend shared = new SqlFrontend(100);
    int callers = 8;
    ExecutorService executor = Executors.newFixedThreadPool(callers);
    try {
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int seed = 0; seed < callers; seed++) {
        List<Integer> order = shuffled(statements.size(), seed);
        tasks.add(
            () -> {
              for (int i : order) {
                assertEquals(expected.get(i), shared.plan(statements.get(i)));
              }
              return null;
            });
      }
      for (Future<Void> done : executor.invokeAll(tasks)) {
        done.get();
      }
    } finally {
      executor.shutdownNow();
    }
  }

  private static List<Integer> shuffled(int size, int seed) {
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      order.add(i);
    }
    Collections.shuffle(order, new Random(seed));
    return order;
  }
}
