package dev.tollgate.cli;

import dev.tollgate.migrations.Progress;
import dev.tollgate.migrations.Script;
import java.io.PrintStream;
import java.time.Duration;

/** A line for each script and statement, as soon as there is something to say. */
record PrintedProgress(PrintStream out) implements Progress {
  @Override
  public void lockTaken(String name, long token) {
    line("lock '%s' taken under token %d".formatted(name, token));
  }

  @Override
  public void scriptBegins(Script script, int alreadyDone) {
    String what =
        alreadyDone == 0
            ? statements(script)
            : "goes on at statement " + (alreadyDone + 1) + " of " + script.statements().size();
    line("%s: %s".formatted(script.path(), what));
  }

  static String statements(Script script) {
    int count = script.statements().size();
    return count == 1 ? "1 statement" : count + " statements";
  }

  @Override
  public void statementDone(Script script, int number, Duration took) {
    line(
        "%s:%d: statement %d of %d in %d ms"
            .formatted(
                script.path(),
                script.statements().get(number - 1).line(),
                number,
                script.statements().size(),
                took.toMillis()));
  }

  @Override
  public void scriptDone(Script script, Duration took) {
    line("%s: done in %d ms".formatted(script.path(), took.toMillis()));
  }

  /** Writes a line as one piece: two runs may share a terminal, and printf writes several. */
  private void line(String text) {
    out.println(text);
  }
}
