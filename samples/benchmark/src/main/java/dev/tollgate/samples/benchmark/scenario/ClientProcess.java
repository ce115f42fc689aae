package dev.tollgate.samples.benchmark.scenario;

import dev.tollgate.samples.benchmark.system.Ground;
import dev.tollgate.samples.benchmark.system.Kind;
import dev.tollgate.samples.benchmark.system.LockClient;
import dev.tollgate.samples.benchmark.system.LockSystem;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/**
 * A client in a process of its own, because it is to be killed, or must not share the heap of the
 * measuring process.
 */
public final class ClientProcess {
  private static final String READY = "ready";

  private final Process process;

  private ClientProcess(Process process) {
    this.process = process;
  }

  /**
   * Starts a client that holds this lock until it is ended or killed; returns when it has the lock.
   */
  static ClientProcess holding(Running of, String lock, Duration lease) throws IOException {
    return start(of, lease, "hold", lock);
  }

  /** Starts a client that keeps idle leases alive; returns when all leases are there. */
  static ClientProcess keeping(Running of, int leases, Duration lease) throws IOException {
    return start(of, lease, "keep", Integer.toString(leases));
  }

  private static ClientProcess start(Running of, Duration lease, String what, String argument)
      throws IOException {
    Process process =
        new ProcessBuilder(
                Ground.javaCommand(
                    List.of("-Xmx1g", "-XX:TieredStopAtLevel=1"),
                    ClientProcess.class.getName(),
                    List.of(
                        of.kind().name(),
                        of.servers().endpoints(),
                        Long.toString(lease.toMillis()),
                        what,
                        argument)))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    BufferedReader output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    String line = output.readLine();
    if (!READY.equals(line)) {
      process.destroyForcibly();
      throw new IOException("client of " + of.kind().word() + " said: " + line);
    }
    return new ClientProcess(process);
  }

  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  /** Ends its client in good order. */
  void end() throws IOException, InterruptedException {
    process.getOutputStream().close();
    process.waitFor();
  }

  /** Runs until its input ends. */
  public static void main(String[] arguments) throws Exception {
    Duration lease = Duration.ofMillis(Long.parseLong(arguments[2]));
    LockSystem system = Kind.valueOf(arguments[0]).open(arguments[1]);
    if (arguments[3].equals("keep")) {
      system.keepLeases(Integer.parseInt(arguments[4]), lease);
      untilInputEnds();
    } else {
      LockClient client = system.connect(lease);
      client.acquire(arguments[4]);
      untilInputEnds();
      client.disconnect();
    }
    system.shutDown();
    System.exit(0);
  }

  private static void untilInputEnds() throws IOException {
    System.out.println(READY);
    System.out.flush();
    while (System.in.read() >= 0) {
      // nothing is ever sent
    }
  }
}
