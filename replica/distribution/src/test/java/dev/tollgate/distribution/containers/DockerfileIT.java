package dev.tollgate.distribution.containers;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The image that docker/Dockerfile of the archive makes, on the base image of the tests.
 * `.ci/image` runs this; it is skipped without `-Dtollgate.image`.
 */
@Timeout(300)
class DockerfileIT {
  private static final String BASE = "tollgate-base:ci";
  private static final String NODE = "tollgate-dockerfile";
  private static final String VOLUME = "tollgate-dockerfile";
  private static final String TAG = "tollgate";
  private static final Duration READY = Duration.ofMinutes(1);
  private static final Duration STOPPED = Duration.ofSeconds(30);

  private static List<String> examples;

  @BeforeAll
  static void build() throws Exception {
    Optional<String> missing =
        System.getProperty("tollgate.image", "").isEmpty()
            ? Optional.of(".ci/image runs it")
            : Docker.missing(BASE);
    missing.ifPresent(what -> System.out.println("DockerfileIT IS SKIPPED: " + what));
    assumeTrue(missing.isEmpty(), () -> missing.orElse(""));
    Path home = Path.of(System.getProperty("tollgate.home")).toAbsolutePath();
    // the commands in the head of the file, but for the base image, and in the directory that it
    // says
    examples =
        Files.readAllLines(home.resolve("docker/Dockerfile")).stream()
            .filter(line -> line.startsWith("#   docker "))
            .map(line -> line.substring("#   docker ".length()))
            .toList();
    assertEquals(2, examples.size(), examples::toString);
    List<String> build = words(examples.get(0));
    assertEquals(List.of("build", "-f", "docker/Dockerfile", "-t", TAG, "."), build);
    long start = System.nanoTime();
    Docker.run(
        "build",
        "--build-arg=BASE=" + BASE,
        "--file=" + home.resolve(build.get(2)),
        "--tag=" + TAG,
        home.toString());
    // without it nodes start later, and nothing else says so
    Docker.run("run", "--rm", "--entrypoint=sh", TAG, "-c", "[ -s /opt/tollgate/tollgate.jsa ]");
    System.out.printf(
        "DockerfileIT: built in %d ms%n", Duration.ofNanos(System.nanoTime() - start).toMillis());
    remove();
  }

  private static List<String> words(String command) {
    return List.of(command.split(" +", -1));
  }

  @AfterEach
  void removeContainers() {
    remove();
  }

  private static void remove() {
    Docker.run("rm", "--force", "--volumes", NODE);
    Docker.run("volume", "rm", "--force", VOLUME);
  }

  /** The second command in the head of the file, with further options. */
  private static void run(String... options) {
    List<String> run = new ArrayList<>(words(examples.get(1)));
    assertEquals("run", run.get(0));
    run.addAll(1, List.of(options));
    run.add(1, "--name=" + NODE);
    Docker.run(run);
    await().atMost(READY).until(() -> Docker.run("logs", NODE).contains("tollgate n1 ready:"));
  }

  /** A client on the machine of the engine, by the port that the example publishes. */
  private static String sql(String statements) {
    return Docker.run(
        "run",
        "--rm",
        "--network=host",
        TAG,
        "sql",
        "--url=jdbc:tollgate://127.0.0.1:7400/",
        "--execute",
        statements);
  }

  private static String inspect(String format) {
    return Docker.run("inspect", "--format=" + format, NODE);
  }

  private static void stop() {
    long start = System.nanoTime();
    Docker.run("stop", "--time=" + STOPPED.toSeconds(), NODE);
    assertEquals("143", inspect("{{.State.ExitCode}}"), () -> Docker.run("logs", NODE));
    Duration took = Duration.ofNanos(System.nanoTime() - start);
    System.out.printf("DockerfileIT: ended %d ms after SIGTERM%n", took.toMillis());
    assertTrue(took.compareTo(STOPPED) < 0, took::toString);
  }

  @Test
  void exampleServesAndEndsInOrder() {
    run();
    String printed = sql("SELECT acquire_lock('first')");
    assertTrue(Pattern.compile("(?m)^ *[1-9]\\d* *$").matcher(printed).find(), printed);
    String status =
        Docker.run(
            "exec",
            NODE,
            "/bin/sh",
            "-c",
            "while read -r line; do echo \"$line\"; done < /proc/1/status");
    assertTrue(status.replaceAll("\\s+", " ").contains("Uid: 7400 7400 7400 7400"), status);
    stop();
  }

  @Test
  void dataAreInTheVolumeThatTheNextContainerGets() {
    String volume = "--volume=" + VOLUME + ":/var/lib/tollgate";
    run(volume);
    sql("CREATE TABLE kept(id INT PRIMARY KEY); INSERT INTO kept VALUES (42)");
    stop();
    Docker.run("rm", NODE);
    run(volume);
    String printed = sql("SELECT 'kept=' || id AS K FROM kept");
    assertTrue(printed.contains("kept=42"), printed);
    assertEquals(
        "volume " + VOLUME + " /var/lib/tollgate",
        inspect("{{range .Mounts}}{{.Type}} {{.Name}} {{.Destination}}{{end}}"));
    stop();
  }
}
