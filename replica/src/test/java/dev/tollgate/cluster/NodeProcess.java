package dev.tollgate.cluster;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A node in a process of its own, run from the class path of the tests, unless these have another
 * one than a server.
 */
public final class NodeProcess implements AutoCloseable {
  private static final long READY_SECONDS = 120;

  /** Other modules start nodes too, and say where this one is. */
  private static final Path CONFIGURATION =
      Path.of(System.getProperty("tollgate.replica", ""), "conf").toAbsolutePath();

  /**
   * By default with little memory, and without the second compiler, for which three nodes that have
   * just started wait. Figures of the product need the options of {@code bin/tollgate}.
   */
  private static final String SMALL =
      "-Xmx300m -XX:+UseSerialGC -XX:TieredStopAtLevel="
          + System.getProperty("tollgate.node.tier", "1");

  static final List<String> JVM =
      Stream.of(
              Stream.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()),
              Stream.of(System.getProperty("tollgate.node.jvm", SMALL).split(" ")),
              Stream.of(
                  "-XX:+ExitOnOutOfMemoryError",
                  "-Duser.language=en",
                  "-Duser.timezone=UTC",
                  "-Djava.util.logging.config.file=" + CONFIGURATION.resolve("jul.properties"),
                  "-Dlogback.configurationFile=" + CONFIGURATION.resolve("logback.xml")))
          .flatMap(Function.identity())
          .toList();

  private final String id;
  private final List<String> program;
  private @Nullable String classPath;
  private final Path data;
  private final File errors;
  private Process process;
  private long maxFileBytes;
  private int maxDescriptors;

  NodeProcess(String id, Path data, Path log, int clientPort, int raftPort, String... options) {
    this.id = id;
    this.data = data;
    this.errors = log.toFile();
    List<String> words =
        List.of(
            "dev.tollgate.cli.Main",
            "server",
            "--id=" + id,
            "--data=" + data,
            "--client-address=127.0.0.1:" + clientPort,
            "--raft-address=127.0.0.1:" + raftPort);
    program = Stream.of(words, List.of(options)).flatMap(List::stream).toList();
  }

  /** Where it writes what happens. */
  Path log() {
    return errors.toPath();
  }

  /** Its directory. */
  Path data() {
    return data;
  }

  String id() {
    return id;
  }

  /** From its next start on it runs another version; null for the one of the tests. */
  void runFrom(@Nullable String otherClassPath) {
    classPath = otherClassPath;
  }

  /** From its next start on it can write no file that is larger than this; 0 ends that. */
  void limitFiles(long bytes) {
    maxFileBytes = bytes;
  }

  /** From its next start on it can have no more files and sockets open than this. */
  void limitDescriptors(int count) {
    maxDescriptors = count;
  }

  /** Waits until the process has ended by itself; its exit status. */
  int awaitEnd() throws InterruptedException {
    return process.waitFor();
  }

  /** Starts the process; complete once it says that it is ready. */
  public CompletableFuture<String> start() throws IOException {
    List<String> words = new ArrayList<>();
    if (maxFileBytes > 0) {
      // the shell counts in blocks of 512 bytes
      words.addAll(
          List.of("sh", "-c", "ulimit -f " + maxFileBytes / 512 + " && exec \"$@\"", "sh"));
    } else if (maxDescriptors > 0) {
      words.addAll(List.of("sh", "-c", "ulimit -n " + maxDescriptors + " && exec \"$@\"", "sh"));
    }
    words.addAll(JVM);
    words.addAll(classPath == null ? ClassArchive.options() : List.of("-cp", classPath));
    words.addAll(program);
    ProcessBuilder builder = new ProcessBuilder(words);
    builder.environment().put("TOLLGATE_RATIS_LOG_LEVEL", "INFO");
    process = builder.redirectError(ProcessBuilder.Redirect.appendTo(errors)).start();
    CompletableFuture<String> ready = new CompletableFuture<>();
    BufferedReader out =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    Thread reader =
        new Thread(
            () -> {
              try {
                String line = out.readLine();
                if (line == null) {
                  ready.completeExceptionally(
                      new IOException(id + " ended: " + Files.readString(log())));
                } else {
                  ready.complete(line);
                }
              } catch (IOException e) {
                ready.completeExceptionally(e);
              }
            });
    reader.setDaemon(true);
    reader.start();
    return ready;
  }

  public void startAndAwait() throws Exception {
    start().get(READY_SECONDS, TimeUnit.SECONDS);
  }

  static void awaitAll(List<CompletableFuture<String>> ready) throws Exception {
    CompletableFuture.allOf(ready.toArray(new CompletableFuture<?>[0]))
        .get(READY_SECONDS, TimeUnit.SECONDS);
  }

  boolean isAlive() {
    return process != null && process.isAlive();
  }

  /** kill -9. */
  public void kill() throws InterruptedException {
    process.destroyForcibly();
    process.waitFor();
  }

  /** SIGTERM; the exit status. */
  int terminate() throws InterruptedException {
    process.destroy();
    return process.waitFor();
  }

  /** SIGSTOP: the process stands still and its connections stay open. */
  public void pause() throws Exception {
    signal("STOP");
  }

  public void resume() throws Exception {
    signal("CONT");
  }

  private void signal(String name) throws Exception {
    int status =
        new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor();
    if (status != 0) {
      throw new IOException("kill -" + name + " of " + id + ": " + status);
    }
  }

  @Override
  public void close() {
    if (process != null) {
      process.destroyForcibly();
    }
  }
}
