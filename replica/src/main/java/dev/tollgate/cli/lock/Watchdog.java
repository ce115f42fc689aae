package dev.tollgate.cli.lock;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/**
 * A shell that ends a command if this process dies without ending it, for example by SIGKILL. It
 * learns of that because its standard input ends: nothing else has the other side of that pipe.
 */
final class Watchdog implements AutoCloseable {
  private static final String DONE = "done";

  /**
   * Its arguments are the mark of the processes and the seconds between SIGTERM and SIGKILL. Its
   * input is the process id of the command, and then the word that says that nothing is left to do.
   * Ctrl-C goes to it too, and must not end it.
   */
  private static final String SCRIPT =
      """
      trap '' HUP INT QUIT TERM
      mark=$1 grace=$2 pid= said=
      read -r pid || :
      read -r said || :
      if [ "$said" = done ]; then exit 0; fi
      left() {
        if [ -d /proc/self ] && command -v grep >/dev/null; then
          for environ in /proc/[0-9]*/environ; do
            if grep -qsaF "$mark" "$environ"; then
              one=${environ#/proc/}
              echo "${one%/environ}"
            fi
          done
        else
          echo "$pid"
        fi
      }
      kill -s TERM $(left)
      sleep "$grace"
      kill -s KILL $(left)
      """;

  private final Process shell;
  private final OutputStream input;

  private Watchdog(Process shell) {
    this.shell = requireNonNull(shell, "shell");
    this.input = shell.getOutputStream();
  }

  /**
   * Starts the shell, before there is a command.
   *
   * @param run the value of {@link CommandProcesses#MARK}
   * @param grace time between SIGTERM and SIGKILL
   */
  static Watchdog start(String run, Duration grace) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(
                List.of(
                    "sh",
                    "-c",
                    SCRIPT,
                    "tollgate-watchdog",
                    CommandProcesses.MARK + "=" + run,
                    String.format(Locale.ROOT, "%.3f", grace.toMillis() / 1e3)))
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.DISCARD);
    // within the command of another lock: it must not be taken for one of its processes
    builder.environment().remove(CommandProcesses.MARK);
    return new Watchdog(builder.start());
  }

  /** Says which process the command is. */
  void watch(Process command) throws IOException {
    say(Long.toString(command.pid()));
  }

  private void say(String line) throws IOException {
    input.write((line + "\n").getBytes(StandardCharsets.UTF_8));
    input.flush();
  }

  /** Nothing of the command is left. */
  @Override
  public void close() {
    try {
      say(DONE);
      say(DONE);
      input.close();
    } catch (IOException e) {
      shell.destroyForcibly();
    }
  }
}
