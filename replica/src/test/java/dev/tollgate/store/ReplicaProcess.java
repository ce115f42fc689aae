package dev.tollgate.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.tollgate.store.OddRun.Fault;
import dev.tollgate.store.OddRun.Step;
import dev.tollgate.store.OddStatements.Odd;
import java.io.PrintStream;
import java.util.List;
import java.util.Random;

/**
 * One replica in a process of its own, which says after every statement what the statement has
 * answered, how many steps it took, and what the replica holds. Arguments: the seed of generated
 * statements, and their number.
 */
final class ReplicaProcess {
  private static final int STATEMENTS_PER_RUN = 60;
  private static final int STATEMENTS_PER_SNAPSHOT = 20;
  private static final int MAX_TEXT = 400;
  private static final long STACK_BYTES = 64 << 20;

  private final PrintStream out = new PrintStream(System.out, true, UTF_8);
  private OddRun run = new OddRun(1);
  private int number;

  private ReplicaProcess() throws Fault {}

  public static void main(String[] arguments) throws Exception {
    long seed = Long.parseLong(arguments[0]);
    int count = Integer.parseInt(arguments[1]);
    Throwable[] failure = new Throwable[1];
    Thread thread =
        new Thread(
            null,
            () -> {
              try {
                new ReplicaProcess().runAll(seed, count);
              } catch (Throwable e) {
                failure[0] = e;
              }
            },
            "replica",
            STACK_BYTES);
    thread.start();
    thread.join();
    if (failure[0] != null) {
      failure[0].printStackTrace();
      System.exit(1);
    }
    System.exit(0);
  }

  private void runAll(long seed, int count) throws Exception {
    out.println(LocalEnvironment.get().fingerprints());
    for (Odd odd : Corpora.choices()) {
      run(new Step(odd));
    }
    run(Step.SNAPSHOT);
    for (List<Odd> statements : Corpora.oddCases().values()) {
      beginAnew();
      for (Odd odd : statements) {
        run(new Step(odd));
        run(Step.SNAPSHOT);
      }
    }
    beginAnew();
    for (Odd odd : Corpora.ofTools()) {
      run(new Step(odd));
    }
    OddStatements generated = new OddStatements(new Random(seed));
    for (int i = 0; i < count; i++) {
      if (i % STATEMENTS_PER_RUN == 0) {
        beginAnew();
      }
      run(
          i % STATEMENTS_PER_SNAPSHOT == STATEMENTS_PER_SNAPSHOT - 1
              ? Step.SNAPSHOT
              : new Step(generated.next()));
    }
    out.println("end");
  }

  private void run(Step step) throws Fault {
    String contents;
    String answer;
    try {
      run.run(step);
      answer = step.odd() == null ? "" : run.answer();
      contents = Integer.toHexString(run.contents().hashCode());
    } catch (Fault e) {
      answer = e.key();
      contents = "none";
      beginAnew();
    }
    String line = "%d %s %x %d steps %s -> %s";
    out.println(
        oneLine(
            line.formatted(
                number++, contents, answer.hashCode(), run.steps(), step, first(answer))));
  }

  private void beginAnew() throws Fault {
    run.close();
    run = new OddRun(1);
  }

  private static String first(String text) {
    return text.length() > MAX_TEXT ? text.substring(0, MAX_TEXT) : text;
  }

  private static String oneLine(String text) {
    return text.replace('\n', ' ').replace('\r', ' ');
  }
}
