package dev.tollgate.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Replicas are equal in whatever Java process they run: statements that leave H2 a choice (equal
 * keys in ORDER BY, no order at all), what tools send, and generated statements, take the same
 * steps, have the same answers and leave the same database in processes with other random numbers,
 * hash codes, compilers, heaps, processors, locales and time zones. They take the same steps with
 * another version of Java too. Replays with {@code -Dtollgate.odd.seed}.
 */
class UnlikeProcessesTest {
  private static final long DEADLINE_SECONDS = 600;

  @TempDir private static Path directory;

  private static final long SEED = Long.getLong("tollgate.odd.seed", System.nanoTime());

  /** A Java runtime and its options. */
  private record Variant(Path java, List<String> options) {
    static Variant of(String... options) {
      return new Variant(JAVA, List.of(options));
    }
  }

  private static final Path JAVA = Path.of(System.getProperty("java.home"), "bin", "java");
  private static final String PLAIN = "plain";

  /** The version of Java in which statements have to take the same steps as in this one. */
  private static final int OTHER_VERSION = 25;

  /** What a line has after the number of the statement and the contents of the database. */
  private static final int ANSWER = 2;

  private static final int STEPS = 3;
  private static final int PROCESSES = 2;
  private static final int FEW_STATEMENTS = 400;

  private static Map<String, Variant> few() {
    Map<String, Variant> variants = new LinkedHashMap<>();
    variants.put(PLAIN, Variant.of("-XX:TieredStopAtLevel=1", "-Xmx256m"));
    variants.put(
        "different in all",
        Variant.of(
            "-XX:TieredStopAtLevel=1",
            "-XX:+UnlockExperimentalVMOptions",
            "-XX:hashCode=2",
            "-Xmx96m",
            "-Duser.language=tr",
            "-Duser.country=TR",
            "-Dfile.encoding=ISO-8859-1",
            "-Duser.timezone=America/New_York",
            "-XX:ActiveProcessorCount=1"));
    return variants;
  }

  private static Map<String, Variant> many() throws IOException {
    Map<String, Variant> variants = few();
    variants.put("interpreted", Variant.of("-Xint", "-Xmx256m"));
    for (int hash = 0; hash <= 5; hash++) {
      variants.put(
          "hash codes " + hash,
          Variant.of("-XX:+UnlockExperimentalVMOptions", "-XX:hashCode=" + hash, "-Xmx256m"));
    }
    variants.put("small heap", Variant.of("-Xmx64m", "-XX:+UseSerialGC"));
    variants.put("large heap", Variant.of("-Xmx512m", "-XX:+UseParallelGC"));
    variants.put("eight processors", Variant.of("-XX:ActiveProcessorCount=8", "-Xmx256m"));
    variants.put(
        "Brazil",
        Variant.of("-Duser.language=pt", "-Duser.country=BR", "-Duser.timezone=Asia/Tokyo"));
    variants.put(
        "Mexico", Variant.of("-Duser.language=es", "-Duser.country=MX", "-Dfile.encoding=UTF-16"));
    variants.putAll(ofOtherRuntimes());
    return variants;
  }

  /** The runtimes that are installed beside this one. */
  private static Map<String, Variant> ofOtherRuntimes() throws IOException {
    try (Stream<Path> homes = Files.list(JAVA.getParent().getParent().getParent())) {
      Map<String, Variant> runtimes = new LinkedHashMap<>();
      for (Path home : homes.sorted().toList()) {
        Path java = home.resolve("bin").resolve("java");
        if (Files.isExecutable(java)
            && !Files.isSymbolicLink(home)
            && !java.toRealPath().equals(JAVA.toRealPath())) {
          runtimes.put(home.getFileName().toString(), new Variant(java, List.of("-Xmx256m")));
        }
      }
      return runtimes;
    }
  }

  @Test
  void replicasAreEqualInOtherProcesses() throws Exception {
    compare(few(), FEW_STATEMENTS);
  }

  @Tag("nightly")
  @Test
  void statementsTakeTheSameStepsInAnotherVersionOfJava() throws Exception {
    Map<String, Variant> variants = new LinkedHashMap<>();
    variants.put(PLAIN, Variant.of("-XX:TieredStopAtLevel=1", "-Xmx256m"));
    for (Map.Entry<String, Variant> runtime : ofOtherRuntimes().entrySet()) {
      if (versionOf(runtime.getValue().java()) == OTHER_VERSION) {
        variants.put(runtime.getKey(), runtime.getValue());
      }
    }
    assumeTrue(
        variants.size() > 1,
        "steps are not compared, because there is no Java " + OTHER_VERSION + " beside " + JAVA);
    compare(variants, FEW_STATEMENTS);
  }

  private static int versionOf(Path java) throws IOException {
    Properties release = new Properties();
    try (InputStream in = Files.newInputStream(java.getParent().resolveSibling("release"))) {
      release.load(in);
    }
    String version = release.getProperty("JAVA_VERSION", "\"0\"").replace("\"", "");
    return Integer.parseInt(version.split("[.+-]", 2)[0]);
  }

  @Tag("nightly")
  @Test
  void replicasAreEqualInManyOtherProcesses() throws Exception {
    compare(many(), Integer.getInteger("tollgate.statements", 4_000));
  }

  /** The output of a variant stays, so that the plain one runs once for several tests. */
  private void compare(Map<String, Variant> variants, int statements) throws Exception {
    System.out.println("UnlikeProcessesTest: -Dtollgate.odd.seed=" + SEED);
    Map<String, Process> running = new LinkedHashMap<>();
    try {
      for (Map.Entry<String, Variant> variant : variants.entrySet()) {
        if (running.size() == PROCESSES) {
          awaitFirst(running);
        }
        if (!Files.exists(output(variant.getKey(), statements))) {
          running.put(variant.getKey(), start(variant.getKey(), variant.getValue(), statements));
        }
      }
      while (!running.isEmpty()) {
        awaitFirst(running);
      }
    } finally {
      running.values().forEach(Process::destroyForcibly);
    }
    List<String> differences = new ArrayList<>();
    List<String> expected = lines(PLAIN, statements);
    for (String name : variants.keySet()) {
      String difference = firstDifference(expected, lines(name, statements));
      if (difference != null) {
        differences.add("\n" + name + ": " + difference);
      }
    }
    System.out.println(
        "UnlikeProcessesTest: " + expected.size() + " lines of each of " + variants.keySet());
    assertEquals(List.of(), differences);
  }

  private static void awaitFirst(Map<String, Process> running) throws InterruptedException {
    Map.Entry<String, Process> first = running.entrySet().iterator().next();
    assertTrue(
        first.getValue().waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS),
        first.getKey() + " does not end");
    assertEquals(0, first.getValue().exitValue(), first.getKey());
    running.remove(first.getKey());
  }

  /** The statement after which the replicas differ; null if they never do. */
  private static @Nullable String firstDifference(List<String> expected, List<String> actual) {
    // no cluster has nodes in both environments, whose answers may differ
    boolean comparable = expected.get(0).equals(actual.get(0));
    for (int i = 1; i < expected.size(); i++) {
      String line = i < actual.size() ? actual.get(i) : "nothing";
      if (comparable ? !expected.get(i).equals(line) : hasOtherSteps(expected.get(i), line)) {
        return "\n" + expected.get(i) + "\n" + line;
      }
    }
    return null;
  }

  private static boolean hasOtherSteps(String expected, String actual) {
    String[] one = expected.split(" ", -1);
    String[] other = actual.split(" ", -1);
    return one.length > STEPS
        && (other.length <= STEPS
            || (one[ANSWER].equals(other[ANSWER]) && !one[STEPS].equals(other[STEPS])));
  }

  private static List<String> lines(String name, int statements) throws IOException {
    return Files.readAllLines(output(name, statements), UTF_8);
  }

  private static Path output(String name, int statements) {
    return directory.resolve(name.replace(' ', '-') + '-' + statements);
  }

  private Process start(String name, Variant variant, int statements) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(variant.java().toString());
    command.addAll(variant.options());
    command.addAll(
        List.of(
            "-cp",
            System.getProperty("java.class.path"),
            ReplicaProcess.class.getName(),
            Long.toString(SEED),
            Integer.toString(statements)));
    return new ProcessBuilder(command)
        .redirectOutput(output(name, statements).toFile())
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }
}
