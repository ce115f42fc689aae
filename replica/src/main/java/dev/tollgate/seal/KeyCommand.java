package dev.tollgate.seal;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Data keys that a command prints, such as one that asks a key service. The keys are on a pipe
 * alone. What the command writes to its standard error goes to that of this process.
 *
 * @param command a line for {@code sh -c}
 * @param within how long the command may take; it is killed then
 */
public record KeyCommand(String command, Duration within) implements KeySource {
  /** How long a command may take. */
  public static final Duration WITHIN = Duration.ofSeconds(30);

  private static final Duration RELOAD = Duration.ofMinutes(5);
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  public KeyCommand {
    requireNonNull(command, "command");
    requireNonNull(within, "within");
  }

  @Override
  public byte[] read() throws IOException {
    long end = System.nanoTime() + within.toNanos();
    Process process =
        new ProcessBuilder("sh", "-c", command)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    byte[] text = new byte[KeyRing.MOST_BYTES + 1];
    try {
      process.getOutputStream().close();
      InputStream out = process.getInputStream();
      int length = 0;
      while (true) {
        // in this order: a process that has ended writes nothing more
        boolean ended = !process.isAlive();
        int available = out.available();
        if (available > 0 && length < text.length) {
          length += Math.max(0, out.read(text, length, Math.min(available, text.length - length)));
        } else if (ended || available > 0) {
          break;
        } else if (System.nanoTime() - end > 0) {
          throw new IOException(describe() + " has not ended within " + within.toSeconds() + " s");
        } else {
          LockSupport.parkNanos(LOOK_NANOS);
        }
      }
      if (length < text.length && process.exitValue() != 0) {
        throw new IOException(describe() + " has ended with status " + process.exitValue());
      }
      return Arrays.copyOf(text, length);
    } finally {
      Arrays.fill(text, (byte) 0);
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }

  @Override
  public Duration reloadInterval() {
    return RELOAD;
  }

  /** Without the command, which may have a password in it. */
  @Override
  public String describe() {
    return "the data key command";
  }

  @Override
  public String toString() {
    return describe();
  }
}
