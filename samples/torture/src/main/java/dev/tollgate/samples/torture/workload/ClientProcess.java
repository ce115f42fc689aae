package dev.tollgate.samples.torture.workload;

import dev.tollgate.samples.torture.history.History;
import dev.tollgate.samples.torture.history.Interruption;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;

/**
 * A {@link Client} from outside: collects its journal, and stops the client when it asks for that.
 */
public final class ClientProcess implements AutoCloseable {
  private static final long READY_SECONDS = 60;

  private final String name;
  private final int host;
  private final Process process;
  private final Writer input;
  private final History history;
  private final LongSupplier nanos;
  private final CompletableFuture<Long> ready = new CompletableFuture<>();
  private final Thread reader;

  private ClientProcess(
      String name, int host, Process process, History history, LongSupplier nanos) {
    this.name = name;
    this.host = host;
    this.process = process;
    this.input = new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8);
    this.history = history;
    this.nanos = nanos;
    this.reader = new Thread(this::read, "journal of " + name);
    reader.start();
  }

  /**
   * What all clients of a run have in common.
   *
   * @param directory for the standard error of the clients
   * @param originNanos when the run began, on the monotonic clock of this machine
   */
  public record Setting(
      Path directory,
      String url,
      long leaseMillis,
      long originNanos,
      List<String> resources,
      History history) {

    long nanos() {
      return System.nanoTime() - originNanos;
    }

    /**
     * Starts a client.
     *
     * @param prefix the words with which its command begins, so that the client runs on its host
     * @param host the number of that host
     * @param properties what this client has in its URL, from {@code &} on
     */
    public ClientProcess start(
        String name, int host, List<String> prefix, long seed, String properties)
        throws IOException {
      List<String> command = new ArrayList<>(prefix);
      command.addAll(
          List.of(
              Path.of(System.getProperty("java.home"), "bin", "java").toString(),
              "-Xmx64m",
              "-XX:+UseSerialGC",
              "-XX:TieredStopAtLevel=1",
              "-cp",
              System.getProperty("java.class.path"),
              Client.class.getName(),
              name,
              url + "&applicationName=" + name + properties,
              Long.toString(seed),
              Long.toString(leaseMillis),
              Long.toString(originNanos)));
      command.addAll(resources);
      Process process =
          new ProcessBuilder(command)
              .redirectError(directory.resolve(name + ".err").toFile())
              .start();
      return new ClientProcess(name, host, process, history, this::nanos);
    }
  }

  public String name() {
    return name;
  }

  /** The number of its host in the network. */
  public int host() {
    return host;
  }

  /**
   * Waits until the client runs. Its clock must be this process's clock, or times could not be
   * compared.
   */
  public void awaitReady() throws IOException, InterruptedException {
    try {
      long said = ready.get(READY_SECONDS, TimeUnit.SECONDS);
      if (said < 0 || said > nanos.getAsLong()) {
        throw new IOException(name + " has another monotonic clock than this process");
      }
    } catch (ExecutionException | TimeoutException e) {
      throw new IOException(name + " did not start", e);
    }
  }

  private void read() {
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (history.add(line)) {
          continue;
        }
        String[] words = line.split("\t", -1);
        long number = Long.parseLong(words[1]);
        if (words[0].equals(Client.READY)) {
          ready.complete(number);
        } else {
          stop(number);
        }
      }
      ready.completeExceptionally(new IOException(name + " ended"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Stops the client for a time. The client writes nothing meanwhile, so its reader can wait. */
  private void stop(long millis) throws IOException, InterruptedException {
    long from = nanos.getAsLong();
    signal("STOP");
    TimeUnit.MILLISECONDS.sleep(millis);
    tell(Client.GO);
    signal("CONT");
    history.interrupted(
        new Interruption(name, Interruption.Cause.STOPPED, from, nanos.getAsLong()));
  }

  private void signal(String signal) throws IOException, InterruptedException {
    int status =
        new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).start().waitFor();
    if (status != 0) {
      throw new IOException("kill -" + signal + " of " + name + ": " + status);
    }
  }

  private synchronized void tell(String word) throws IOException {
    input.write(word + "\n");
    input.flush();
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** Asks the client to end in good order. */
  public void end() throws IOException {
    tell(Client.END);
  }

  /**
   * Waits until the client has ended and its journal is in the history; returns the exit status.
   */
  public int awaitEnd(long seconds) throws IOException, InterruptedException {
    if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
      throw new IOException(name + " did not end within " + seconds + " s of being told to");
    }
    reader.join();
    return process.exitValue();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
