package dev.tollgate.samples.applications.kills;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.slf4j.LoggerFactory;

/** A process that works with a framework until it is killed, or until its parent has ended. */
final class Client {
  private static final String READY = "ready";

  /** A client may start while the nodes elect a leader. */
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private final String name;
  private final Process process;
  private final CompletableFuture<String> said;

  private Client(String name, Process process) {
    this.name = name;
    this.process = process;
    this.said =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return String.valueOf(process.inputReader().readLine());
              } catch (IOException e) {
                return e.toString();
              }
            });
  }

  /** Starts a process; what it writes as it works stays under target/client-logs. */
  static Client start(Class<? extends Framework> framework, String url, String name)
      throws IOException {
    Path logs =
        Files.createDirectories(Path.of("target", "client-logs", framework.getSimpleName()));
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx192m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Duser.timezone=UTC",
            "-cp",
            System.getProperty("java.class.path"),
            Client.class.getName(),
            framework.getName(),
            url,
            name);
    Process process =
        new ProcessBuilder(command).redirectError(logs.resolve(name + ".log").toFile()).start();
    return new Client(name, process);
  }

  String name() {
    return name;
  }

  /** Whether it has started to work. */
  boolean isReady() {
    if (!process.isAlive()) {
      throw new IllegalStateException(
          "client " + name + " ended with " + process.exitValue() + ", see target/client-logs");
    }
    return said.isDone() && said.join().equals(READY);
  }

  /** kill -9. */
  void kill() {
    process.destroyForcibly().onExit().join();
  }

  /** The pool that most applications have. */
  static HikariDataSource pool(String url) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setMaximumPoolSize(8);
    config.setInitializationFailTimeout(PATIENCE.toMillis());
    return new HikariDataSource(config);
  }

  /** Arguments: the class of the framework, the URL, the name of the client. */
  public static void main(String[] args) throws Exception {
    Framework framework =
        Class.forName(args[0]).asSubclass(Framework.class).getDeclaredConstructor().newInstance();
    HikariDataSource pool = pool(args[1]);
    try {
      framework.work(pool, args[2], new Ledger(pool, args[2]));
    } catch (Exception | Error e) {
      LoggerFactory.getLogger(Client.class).error("client {} does not work", args[2], e);
      // threads of a framework that has half started would keep the process
      Runtime.getRuntime().halt(1);
    }
    System.out.println(READY);
    while (System.in.read() >= 0) {
      // the parent says nothing, and its end closes the pipe
    }
    Runtime.getRuntime().halt(0);
  }
}
