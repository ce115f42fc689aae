package dev.tollgate.samples.benchmark.system;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * The place where servers are started: a directory, a range of ports, and the processes to end when
 * the run ends, also on Control-C.
 */
public final class Ground {
  private static final long READY_SECONDS = 90;

  /** How many ports one place may use when there is another one beside it. */
  private static final int PORTS = 500;

  private final Path directory;
  private final int firstPort;
  private final Path home;
  private final List<Process> started = new ArrayList<>();

  /**
   * @param directory for data and output, not shared
   * @param firstPort the first of a thousand free ports
   * @param home of the source tree of Tollgate
   */
  public Ground(Path directory, int firstPort, Path home) {
    this.directory = directory;
    this.firstPort = firstPort;
    this.home = home;
    Runtime.getRuntime().addShutdownHook(new Thread(this::killAll));
  }

  /** Another place: an empty directory within this one, and the ports after those of this one. */
  Ground beside() throws IOException {
    return new Ground(Files.createTempDirectory(directory, "beside"), firstPort + PORTS, home);
  }

  Path directory() {
    return directory;
  }

  Path home() {
    return home;
  }

  int port(int number) {
    return firstPort + number;
  }

  /** The addresses, host:port, of some servers in a row. */
  List<String> addresses(int firstNumber, int count) {
    return IntStream.range(firstNumber, firstNumber + count)
        .mapToObj(number -> "127.0.0.1:" + port(number))
        .toList();
  }

  /** Starts a server, with its output in a file of this name. */
  Process start(String name, Map<String, String> environment, List<String> command)
      throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().putAll(environment);
    builder.redirectErrorStream(true);
    builder.redirectOutput(output(name).toFile());
    Process process = builder.start();
    synchronized (started) {
      started.add(process);
    }
    return process;
  }

  /** The command that starts a program with the class path of this process. */
  public static List<String> javaCommand(
      List<String> options, String mainClass, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-XX:+UseSerialGC");
    command.add(
        "-Dlogback.configurationFile=" + System.getProperty("logback.configurationFile", ""));
    command.add(
        "-Djava.util.logging.config.file="
            + System.getProperty("java.util.logging.config.file", ""));
    command.addAll(options);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), mainClass));
    command.addAll(arguments);
    return command;
  }

  private Path output(String name) {
    return directory.resolve(name + ".out");
  }

  String outputOf(String name) throws IOException {
    return Files.readString(output(name), StandardCharsets.UTF_8);
  }

  /** Waits until a server is ready; fails, with what it wrote, if it ends or takes too long. */
  void awaitReady(String name, Process process, Callable<Boolean> ready) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(READY_SECONDS);
    while (!ready.call()) {
      if (!process.isAlive() || System.nanoTime() > end) {
        throw new IOException(
            name
                + (process.isAlive()
                    ? " was not ready in " + READY_SECONDS + " s:\n"
                    : " ended with status " + process.exitValue() + ":\n")
                + outputOf(name));
      }
      TimeUnit.MILLISECONDS.sleep(50);
    }
  }

  static void kill(Process process) throws InterruptedException {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly().waitFor();
  }

  private void killAll() {
    synchronized (started) {
      for (Process process : started) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
      }
    }
  }

  static boolean accepts(int port) {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1_000);
      return true;
    } catch (IOException e) {
      return false; // not yet
    }
  }

  /** Sends words and returns the reply until the connection closes; empty if no server listens. */
  static String ask(int port, String words) {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1_000);
      socket.setSoTimeout(5_000);
      socket.getOutputStream().write(words.getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
    } catch (IOException e) {
      return "";
    }
  }

  /** Whether this page exists. */
  static boolean isFound(String url) throws IOException {
    HttpURLConnection connection = (HttpURLConnection) URI.create(url).toURL().openConnection();
    connection.setConnectTimeout(1_000);
    connection.setReadTimeout(5_000);
    try {
      return connection.getResponseCode() == HttpURLConnection.HTTP_OK;
    } catch (IOException e) {
      return false; // not yet
    } finally {
      connection.disconnect();
    }
  }

  /** Where a program is installed: in one of these directories, or on the path. */
  static Optional<Path> program(String name, List<Path> directories) {
    List<Path> places = new ArrayList<>(directories);
    for (String directory : System.getenv().getOrDefault("PATH", "").split(":", -1)) {
      places.add(Path.of(directory));
    }
    return places.stream()
        .map(directory -> directory.resolve(name))
        .filter(Files::isExecutable)
        .findFirst();
  }
}
