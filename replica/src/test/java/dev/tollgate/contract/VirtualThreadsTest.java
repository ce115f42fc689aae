package dev.tollgate.contract;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tollgate.node.LoopbackSettings;
import dev.tollgate.node.Node;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Interrupts of threads that use the driver, platform and virtual ones. Virtual threads need a JVM
 * of Java 21 or later in /usr/lib/jvm; without one their tests are skipped.
 */
class VirtualThreadsTest {
  private static final Pattern REPORT =
      Pattern.compile("(\\d+) grants, (\\d+) interrupts, (\\d+) failures, (\\d+) ms");
  private static final Pattern VERSION = Pattern.compile("JAVA_VERSION=\"(\\d+)");
  private static final Path JVMS = Path.of("/usr/lib/jvm");
  private static final int FIRST_WITH_VIRTUAL_THREADS = 21;
  private static final int PAIRS = 9;
  private static final int GRANTS = Integer.getInteger("virtual.grants", 10_000);
  private static final double LEAST_RATIO = 0.9;

  @TempDir static Path directory;
  private static Node node;

  @BeforeAll
  static void startNode() throws Exception {
    node = new Node(LoopbackSettings.of("n1", null));
    node.start();
  }

  @AfterAll
  static void stopNode() {
    node.close();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void interruptsLeaveNoLockAndNoFailure(boolean virtual) throws Exception {
    take(
        virtual ? jvmWithVirtualThreads() : Path.of(System.getProperty("java.home")), virtual, 300);
  }

  /** Pairs take turns, because other work on the machine slows both kinds of threads. */
  @Test
  @Tag("nightly")
  void virtualThreadsGetAsManyGrantsAsPlatformThreads() throws Exception {
    Path java = jvmWithVirtualThreads();
    List<Double> ratios = new ArrayList<>();
    for (int pair = 0; pair < PAIRS; pair++) {
      boolean virtualFirst = pair % 2 == 0;
      double first = take(java, virtualFirst, GRANTS);
      double second = take(java, !virtualFirst, GRANTS);
      ratios.add(virtualFirst ? second / first : first / second);
    }
    ratios.sort(null);
    System.out.println("grants of virtual threads for each of a platform thread: " + ratios);
    assertTrue(ratios.get(PAIRS / 2) >= LEAST_RATIO, ratios.toString());
  }

  private static Path jvmWithVirtualThreads() throws IOException {
    Path java = newestJvm();
    assumeTrue(java != null, "no JVM with virtual threads in " + JVMS);
    return java;
  }

  /** Returns the milliseconds that the grants took. */
  private static long take(Path java, boolean virtual, int grants) throws Exception {
    long seed = Long.getLong("tollgate.seed", System.nanoTime());
    String url = "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort() + "/";
    Path out = Files.createTempFile(directory, "takers", ".out");
    Process takers =
        new ProcessBuilder(
                java.resolve("bin/java").toString(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                InterruptedTakers.class.getName(),
                url,
                Integer.toString(grants),
                Boolean.toString(virtual),
                Long.toString(seed))
            .redirectErrorStream(true)
            .redirectOutput(out.toFile())
            .start();
    try {
      assertTrue(takers.waitFor(5, TimeUnit.MINUTES), "the takers do not end");
    } finally {
      takers.destroyForcibly();
    }
    String text = Files.readString(out, StandardCharsets.UTF_8);
    System.out.println("tollgate.seed=" + seed + " virtual=" + virtual + ": " + text);
    Matcher report = REPORT.matcher(text);
    assertTrue(report.find(), text);
    assertTrue(Integer.parseInt(report.group(1)) >= grants, text);
    assertTrue(Integer.parseInt(report.group(2)) > 0, "nobody was interrupted: " + text);
    assertEquals(0, Integer.parseInt(report.group(3)), text);
    await().atMost(Duration.ofSeconds(5)).until(() -> rows(url) == 0);
    return Long.parseLong(report.group(4));
  }

  /** Locks that are held or waited for, and leases. */
  private static long rows(String url) throws Exception {
    try (var connection = DriverManager.getConnection(url);
        var statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                "SELECT (SELECT COUNT(*) FROM TOLLGATE.LOCKS)"
                    + " + (SELECT COUNT(*) FROM TOLLGATE.LOCK_WAITERS)"
                    + " + (SELECT COUNT(*) FROM TOLLGATE.LEASES)")) {
      rows.next();
      return rows.getLong(1);
    }
  }

  private static Path newestJvm() throws IOException {
    if (!Files.isDirectory(JVMS)) {
      return null;
    }
    try (Stream<Path> jvms = Files.list(JVMS)) {
      return jvms.filter(jvm -> version(jvm).orElse(0) >= FIRST_WITH_VIRTUAL_THREADS)
          .max(Comparator.comparing(jvm -> version(jvm).orElse(0)))
          .orElse(null);
    }
  }

  private static Optional<Integer> version(Path jvm) {
    try {
      Matcher version = VERSION.matcher(Files.readString(jvm.resolve("release")));
      return version.find() ? Optional.of(Integer.valueOf(version.group(1))) : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    }
  }
}
