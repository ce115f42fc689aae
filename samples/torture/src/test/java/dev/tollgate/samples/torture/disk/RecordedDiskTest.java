package dev.tollgate.samples.torture.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The library with a process of its own. */
@Timeout(120)
class RecordedDiskTest {
  @TempDir static Path built;
  private static Path library;

  @TempDir Path directory;
  private RecordedDisk disk;
  private Path data;

  @BeforeAll
  static void compile() throws Exception {
    Optional<String> obstacle = RecordedDisk.obstacle();
    Assumptions.assumeTrue(obstacle.isEmpty(), () -> "no disk is recorded: " + obstacle);
    library = RecordedDisk.compile(Path.of("src/main/c/recorded-disk.c"), built);
  }

  @BeforeEach
  void begin() throws IOException {
    data = directory.resolve("data");
    disk = new RecordedDisk(data, directory.resolve("n1"), library);
  }

  private Process start(String... words) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx32m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                DiskWriter.class.getName(),
                data.toString()));
    command.addAll(List.of(words));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().putAll(disk.environment());
    return builder.start();
  }

  private String run(String... words) throws IOException, InterruptedException {
    Process process = start(words);
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), said);
    return said;
  }

  private Set<String> cut(long seed) throws IOException {
    disk.cut(new Random(seed));
    try (Stream<Path> files = Files.list(data)) {
      return Set.copyOf(files.map(file -> file.getFileName().toString()).toList());
    }
  }

  @Test
  void everyWayOfAJavaProgramToChangeFilesIsSeen() throws Exception {
    run("everything");
    assertEquals(Set.of(), disk.differences());
    run("everything");
    assertEquals(Set.of(), disk.differences(), "in a second process");
  }

  @Test
  void mappingIsNotSeenAndTold() throws Exception {
    run("mapping");
    assertEquals(Set.of("mapped"), disk.differences());
  }

  @Test
  void syncedFilesSurviveCutsAndOthersNeedNot() throws Exception {
    int lost = 0;
    for (int seed = 0; seed < 12; seed++) {
      run("replace", "synced", "value" + seed);
      run("write", "unsynced" + seed, "x");
      Set<String> left = cut(seed);
      assertEquals("value" + seed, Files.readString(data.resolve("synced")));
      lost += left.contains("unsynced" + seed) ? 0 : 1;
      Files.deleteIfExists(data.resolve("unsynced" + seed));
      disk = new RecordedDisk(data, directory.resolve("n1"), library);
    }
    assertTrue(lost > 0);
  }

  @Test
  void syncFailsOnceAndWhatWasInItMayBeLost() throws Exception {
    disk.failOnce();
    String said = run("retry", "file", "value");
    assertTrue(said.contains("failed: Input/output error") && said.contains("synced"), said);
    Set<String> contents = new TreeSet<>();
    for (int seed = 0; seed < 30; seed++) {
      Disk replayed = new Disk();
      new DiskJournal(data.toRealPath()).replay(directory.resolve("n1.journal"), replayed);
      replayed.cut(new Random(seed));
      Path left = Files.createDirectories(directory.resolve("left" + seed));
      replayed.writeTo(left);
      contents.add(Files.readString(left.resolve("file")));
    }
    assertTrue(contents.contains("value") && contents.size() > 1, contents.toString());
  }

  @Test
  void syncHangsUntilItIsHealed() throws Exception {
    disk.hang();
    Process process = start("retry", "file", "value");
    try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
      assertEquals("syncing", out.readLine());
      assertFalse(process.waitFor(200, TimeUnit.MILLISECONDS), "waits");
      disk.heal();
      assertEquals("synced", out.readLine());
    }
    assertEquals(0, process.waitFor());
  }

  @Test
  void processThatIsKilledWhileASyncHangsHasSyncedNothing() throws Exception {
    disk.hang();
    Process process = start("retry", "file", "value");
    try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
      assertEquals("syncing", out.readLine());
      process.destroyForcibly().waitFor();
    }
    disk.heal();
    assertEquals(Set.of(), disk.differences());
    assertEquals("value", Files.readString(data.resolve("file")));
  }
}
