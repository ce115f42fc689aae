package dev.tollgate.cli.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cli.doctor.Finding.Level;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each check finds what is wrong, and says what to do. */
@Timeout(60)
class DoctorTest {
  private static final Duration ELECTION = Duration.ofMillis(200);

  @TempDir private Path directory;

  private record Fake(String subject, Callable<List<Finding>> body) implements Check {
    @Override
    public List<Finding> run() throws Exception {
      return body.call();
    }
  }

  private record Report(boolean sound, String text) {}

  private static Report examine(Duration limit, Check... checks) throws InterruptedException {
    StringWriter out = new StringWriter();
    boolean sound = new Doctor(List.of(checks), limit, new PrintWriter(out)).examine(List.of());
    return new Report(sound, out.toString());
  }

  private static Level only(List<Finding> findings) {
    assertEquals(1, findings.size(), findings.toString());
    return findings.get(0).level();
  }

  @Test
  void reportHasALineForEachFindingAndWhatToDo() throws InterruptedException {
    Report report =
        examine(
            Duration.ofSeconds(10),
            new Fake("one", () -> List.of(Finding.pass("one", "is fine"))),
            new Fake("two", () -> List.of(Finding.warn("two", "is slow", "make it fast"))));
    assertTrue(report.sound(), report.text());
    assertEquals(
        List.of(
            "PASS  one           is fine",
            "WARN  two           is slow",
            "                    what to do: make it fast",
            "1 passed, 1 to look at, 0 failed"),
        report.text().lines().toList());
  }

  @Test
  void failureIsNotSound() throws InterruptedException {
    Report report =
        examine(
            Duration.ofSeconds(10),
            new Fake("one", () -> List.of(Finding.fail("one", "is broken", "mend it"))));
    assertFalse(report.sound());
    assertTrue(report.text().contains("FAIL  one           is broken"), report.text());
  }

  @Test
  void checkThatThrowsIsAFailure() throws InterruptedException {
    Report report =
        examine(
            Duration.ofSeconds(10),
            new Fake(
                "one",
                () -> {
                  throw new IllegalStateException("no idea");
                }));
    assertFalse(report.sound());
    assertTrue(report.text().contains("could not be checked: no idea"), report.text());
  }

  @Test
  void checkThatNeverEndsIsAFailureInTime() throws InterruptedException {
    CountDownLatch never = new CountDownLatch(1);
    Report report =
        examine(
            Duration.ofMillis(50),
            new Fake(
                "one",
                () -> {
                  never.await();
                  return List.of();
                }),
            new Fake("two", () -> List.of(Finding.pass("two", "is fine"))));
    never.countDown();
    assertFalse(report.sound());
    assertTrue(report.text().contains("FAIL  one           the check did not end"), report.text());
    assertTrue(report.text().contains("PASS  two"), report.text());
  }

  @ParameterizedTest
  @CsvSource({"11, FAIL", "17, PASS", "18, WARN", "21, PASS", "24, WARN"})
  void runtime(int release, Level level) {
    assertEquals(level, only(new JavaCheck(release, "a vendor").run()));
  }

  @ParameterizedTest
  @CsvSource({
    "1g, 8192, PASS",
    "1G, 8192, PASS",
    "1073741824, 8192, PASS",
    "99m, 8192, FAIL",
    "100m, 8192, PASS",
    "8g, 8192, FAIL",
    "7900m, 8192, WARN",
    "7792m, 8192, PASS",
    "a lot, 8192, FAIL",
    "0.5g, 8192, FAIL",
  })
  void heap(String heap, long memoryMib, Level level) {
    assertEquals(level, only(new MemoryCheck(heap, memoryMib << 20).run()));
  }

  @ParameterizedTest
  @CsvSource({"256, FAIL", "257, WARN", "20255, WARN", "20256, PASS", "9223372036854775807, PASS"})
  void descriptors(long limit, Level level) {
    assertEquals(level, only(new DescriptorCheck(20_000, limit).run()));
  }

  @Test
  void directoryThatOthersMayEnterIsWarnedAbout() throws Exception {
    Path data = Files.createDirectory(directory.resolve("data"));
    Files.setPosixFilePermissions(data, PosixFilePermissions.fromString("rwxr-xr-x"));
    assertTrue(
        new DirectoryCheck(data, 1)
            .run().stream().anyMatch(finding -> finding.fact().contains("others may enter")));
    Files.setPosixFilePermissions(data, PosixFilePermissions.fromString("rwx------"));
    assertFalse(
        new DirectoryCheck(data, 1)
            .run().stream().anyMatch(finding -> finding.fact().contains("others may enter")));
  }

  @Test
  void directoryIsNotMade() throws Exception {
    Path data = directory.resolve("a").resolve("b");
    new DirectoryCheck(data, 1).run();
    // a busy disk may be slow
    assertTrue(
        only(new DiskCheck(data, Duration.ofSeconds(60)).run()) != Level.FAIL, "the disk failed");
    assertEquals(List.of(), List.of(directory.toFile().list()));
  }

  @Test
  void fileInPlaceOfTheDirectoryFails() throws Exception {
    Path file = Files.writeString(directory.resolve("file"), "");
    assertEquals(Level.FAIL, only(new DirectoryCheck(file, 1).run()));
  }

  /** A node that is at work makes and deletes files while they are counted. */
  @Test
  void filesThatGoMeanwhileDoNotCount() throws Exception {
    AtomicBoolean done = new AtomicBoolean();
    CompletableFuture<Void> node =
        CompletableFuture.runAsync(
            () -> {
              try {
                while (!done.get()) {
                  Path file = Files.createTempFile(directory, "snapshot", ".tmp");
                  Files.delete(file);
                }
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
    try {
      for (int i = 0; i < 2_000; i++) {
        new DirectoryCheck(directory, 1).run();
      }
    } finally {
      done.set(true);
    }
    node.get();
  }

  @Test
  void roomIsNeededForSnapshotsAndLog() {
    DirectoryCheck check = new DirectoryCheck(directory, 64 << 20);
    DirectoryCheck.Taken empty = new DirectoryCheck.Taken(0, 0);
    DirectoryCheck.Taken full = new DirectoryCheck.Taken(2L << 30, 1L << 30);
    assertEquals(Level.FAIL, check.room((64 << 20) - 1, empty).level());
    assertEquals(Level.WARN, check.room((192 << 20) - 1, empty).level());
    assertEquals(Level.PASS, check.room(192 << 20, empty).level());
    assertEquals(Level.WARN, check.room(1L << 30, full).level());
    assertEquals(Level.PASS, check.room((1L << 30) + (192 << 20), full).level());
  }

  @ParameterizedTest
  @CsvSource({"1, 1, PASS", "1, 11, WARN", "51, 51, WARN", "200, 200, WARN", "201, 201, FAIL"})
  void disk(long usualMillis, long rareMillis, Level level) {
    long[] nanos = new long[100];
    java.util.Arrays.fill(nanos, usualMillis * 1_000_000);
    nanos[7] = rareMillis * 1_000_000;
    nanos[8] = rareMillis * 1_000_000;
    assertEquals(level, new DiskCheck(directory, ELECTION).judge(nanos).level());
  }

  @ParameterizedTest
  @CsvSource({"50, false", "51, true", "250, true"})
  void disksAdviseAnElectionTimeoutForVotes(long syncMillis, boolean advised) {
    long[] nanos = new long[100];
    java.util.Arrays.fill(nanos, syncMillis * 1_000_000);
    Finding finding = new DiskCheck(directory, ELECTION).judge(nanos);
    long enough = (4 * syncMillis + 99) / 100 * 100;
    assertEquals(
        advised,
        finding.advice().contains("raise --election-timeout from 200 to " + enough + " on all"),
        finding.toString());
  }

  @ParameterizedTest
  @CsvSource({"49.9, PASS", "50, WARN", "199.9, WARN", "200, FAIL"})
  void pauses(double longestMillis, Level level) {
    Finding finding = new PauseCheck(Duration.ofSeconds(1), ELECTION).judge(longestMillis);
    assertEquals(level, finding.level(), finding.toString());
  }

  @Test
  void pausesAdviseAnElectionTimeout() {
    Finding finding = new PauseCheck(Duration.ofSeconds(1), ELECTION).judge(130);
    assertTrue(finding.advice().contains("--election-timeout to 600 "), finding.toString());
  }

  @ParameterizedTest
  @CsvSource({"0, PASS", "-50, PASS", "51, WARN", "-51, WARN"})
  void clockThatWasSet(long stepMillis, Level level) {
    assertEquals(level, new PauseCheck(Duration.ofSeconds(1), ELECTION).clock(stepMillis).level());
  }

  @Test
  void pausesAreMeasured() {
    List<Finding> findings = new PauseCheck(Duration.ofMillis(50), Duration.ofHours(1)).run();
    assertEquals(2, findings.size());
    assertEquals(Level.PASS, findings.get(0).level(), findings.toString());
    assertTrue(findings.get(0).fact().startsWith("longest "), findings.toString());
  }

  @Test
  void portIsFreeOrInUse() throws Exception {
    InetSocketAddress address;
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      address = new InetSocketAddress(InetAddress.getLoopbackAddress(), taken.getLocalPort());
      assertEquals(Level.FAIL, only(new PortCheck("port", address, () -> false).run()));
      assertEquals(Level.PASS, only(new PortCheck("port", address, () -> true).run()));
    }
    assertEquals(Level.PASS, only(new PortCheck("port", address, () -> false).run()));
    assertEquals(Level.PASS, only(new PortCheck("port", null, () -> false).run()));
    // TEST-NET-1 of RFC 5737, which no host has
    InetSocketAddress elsewhere = new InetSocketAddress("192.0.2.1", address.getPort());
    Finding stranger = new PortCheck("port", elsewhere, () -> false).run().get(0);
    assertEquals(Level.FAIL, stranger.level());
    assertTrue(stranger.fact().startsWith("cannot listen on"), stranger.fact());
  }

  @Test
  void peersAreReachedOrNot() throws Exception {
    try (ServerSocket peer = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
      String there = "127.0.0.1:" + peer.getLocalPort();
      List<Finding> found =
          new PeerCheck("n1", Map.of("n1", "127.0.0.1:1", "n2", there), ELECTION).run();
      assertEquals(Level.PASS, only(found));
      assertTrue(found.get(0).fact().startsWith("n2 at " + there + " answers within "));
    }
    Finding gone = new PeerCheck("n1", Map.of("n2", "127.0.0.1:1"), ELECTION).run().get(0);
    assertEquals(Level.WARN, gone.level());
    assertTrue(gone.fact().startsWith("n2 at 127.0.0.1:1 cannot be reached"), gone.fact());
    Finding unknown = new PeerCheck("n1", Map.of("n2", "no.host.invalid:1"), ELECTION).run().get(0);
    assertEquals(Level.FAIL, unknown.level());
    assertEquals(Level.PASS, only(new PeerCheck("n1", Map.of(), ELECTION).run()));
  }

  @ParameterizedTest
  @CsvSource({"50, PASS", "50.1, WARN"})
  void roundTrips(double millis, Level level) {
    assertEquals(level, new PeerCheck("n1", Map.of(), ELECTION).judge("n2", millis).level());
  }

  @ParameterizedTest
  @CsvSource({"999, 1, PASS", "-1100, 100, PASS", "1200, 100, WARN", "-1200, 100, WARN"})
  void clocks(double ahead, double within, Level level) {
    ClusterCheck check = new ClusterCheck(null, new Properties());
    Finding finding = check.judge(new ClusterCheck.Offset("n2", ahead, within));
    assertEquals(level, finding.level(), finding.toString());
    assertTrue(finding.fact().contains(ahead < 0 ? "behind" : "ahead"), finding.fact());
  }
}
