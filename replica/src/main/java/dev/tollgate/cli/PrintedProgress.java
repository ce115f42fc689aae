package dev.tollgate.cli;

import dev.tollgate.migrations.Progress;
import dev.tollgate.migrations.Script;
import java.io.PrintStream;
import java.time.Duration;

/** A line for each script and statement, as soon as there is something to say. */
record PrintedProgress(PrintStream out) implements Progress {
  @Override
  public void lockTaken(String name, long token) {
    out.printf("lock '%s' taken under token %d%n", name, token);
  }

  @Override
  public void scriptBegins(Script script, int alreadyDone) {
    out.printf(
        "%s: %s%n",
        script.path(),
        alreadyDone == 0
            ? statements(script)
            : "goes on at statement " + (alreadyDone + 1) + " of " + script.statements().size());
  }

  static String statements(Script script) {
    int count = script.statements().size();
    return count == 1 ? "1 statement" : count + " statements";
  }

  @Override
  public void statementDone(Script script, int number, Duration took) {
    out.printf(
        "%s:%d: statement %d of %d in %d ms%n",
        script.path(),
        script.statements().get(number - 1).line(),
        number,
        script.statements().size(),
        took.toMillis());
  }

  @Override
  public void scriptDone(Script script, Duration took) {
    out.printf("%s: done in %d ms%n", script.path(), took.toMillis());
  }
}
