package dev.tollgate.sql;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * How long the front-end takes for one statement: a program, not a test, because the answer depends
 * on the machine. Run it from this module with the test class path: {@code mvn -f
 * sql-frontend/pom.xml test-compile exec:java -Dexec.classpathScope=test
 * -Dexec.mainClass=dev.tollgate.sql.GateLatency}.
 */
public final class GateLatency {

  private static final int WARM_UP_ROUNDS = 60;
  private static final int MEASURED_ROUNDS = 20;
  private static final int CACHED_CALLS = 2_000_000;

  private GateLatency() {}

  public static void main(String[] arguments) {
    List<String> corpus = new ArrayList<>(Corpus.all("/tools.sql"));
    corpus.addAll(Corpus.all("/dialect.sql"));

    SqlFrontend frontend = new SqlFrontend(1_000);
    long begin = System.nanoTime();
    frontend.plan("SELECT id FROM t WHERE id = ?");
    report("cold, the first statement", millis(System.nanoTime() - begin) + " ms");
    begin = System.nanoTime();
    frontend.warmUp();
    report("warm-up at start", millis(System.nanoTime() - begin) + " ms");
    begin = System.nanoTime();
    frontend.plan(corpus.get(0));
    report("first unseen statement after it", micros(System.nanoTime() - begin) + " us");
    unseen(corpus);
    cached(corpus);
  }

  /** Planned anew each time, as a statement that the cache has not seen. */
  private static void unseen(List<String> corpus) {
    SqlFrontend frontend = new SqlFrontend(0);
    measure(frontend, corpus, WARM_UP_ROUNDS);
    long[] nanos = measure(frontend, corpus, MEASURED_ROUNDS);
    Arrays.sort(nanos);
    report("unseen, p50", micros(nanos[nanos.length / 2]) + " us");
    report("unseen, p90", micros(nanos[nanos.length * 9 / 10]) + " us");
    report("unseen, p99", micros(nanos[nanos.length * 99 / 100]) + " us");
    report("unseen, longest", micros(nanos[nanos.length - 1]) + " us");
  }

  private static long[] measure(SqlFrontend frontend, List<String> corpus, int rounds) {
    long[] nanos = new long[rounds * corpus.size()];
    for (int i = 0; i < nanos.length; i++) {
      String sql = corpus.get(i % corpus.size());
      long begin = System.nanoTime();
      frontend.plan(sql);
      nanos[i] = System.nanoTime() - begin;
    }
    return nanos;
  }

  private static void cached(List<String> corpus) {
    SqlFrontend frontend = new SqlFrontend(corpus.size());
    corpus.forEach(frontend::plan);
    long parameters = 0;
    long begin = 0;
    for (int i = -CACHED_CALLS; i < CACHED_CALLS; i++) {
      begin = i == 0 ? System.nanoTime() : begin;
      parameters += frontend.plan(corpus.get(Math.floorMod(i, corpus.size()))).parameterCount();
    }
    double nanos = (System.nanoTime() - begin) / (double) CACHED_CALLS;
    report("cached, mean", Math.round(nanos) + " ns (" + parameters % 10 + ")");
  }

  private static long millis(long nanos) {
    return nanos / 1_000_000;
  }

  private static long micros(long nanos) {
    return nanos / 1_000;
  }

  private static void report(String what, String howLong) {
    System.out.printf("%-35s %s%n", what, howLong);
  }
}
