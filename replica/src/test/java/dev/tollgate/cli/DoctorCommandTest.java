package dev.tollgate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.node.GuardedNode;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code tollgate doctor} with the settings of a node. */
@Timeout(120)
class DoctorCommandTest {
  @TempDir private Path directory;

  private record Ended(int status, String out, String err) {}

  private Ended run(Map<String, String> environment, String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    Stream<String> first =
        Stream.of("doctor", "--id=n1", "--data=" + directory.resolve("data"), "--seconds=1");
    int status =
        Main.commandLine(environment, null)
            .setOut(new PrintWriter(out, true))
            .setErr(new PrintWriter(err, true))
            .execute(Stream.concat(first, Stream.of(arguments)).toArray(String[]::new));
    return new Ended(status, out.toString(), err.toString());
  }

  @Test
  void everySubjectIsCheckedAndNothingIsLeft() throws Exception {
    int port = freePort();
    // a machine that runs tests may pause, and may be full
    Ended ended =
        run(
            Map.of("TOLLGATE_HEAP", "150m", "TOLLGATE_ELECTION_TIMEOUT", "60000"),
            "--client-address=127.0.0.1:" + port);
    for (String subject :
        List.of(
            "PASS  settings",
            "PASS  java",
            "PASS  memory        a heap of 150 MiB",
            "files",
            "directory",
            "disk",
            "pauses",
            "clock",
            "PASS  client port   /127.0.0.1:" + port + " is free",
            "PASS  peer port",
            "PASS  peers",
            "PASS  cluster       not asked")) {
      assertTrue(ended.out().contains(subject), subject + " is missing in " + ended.out());
    }
    assertEquals(0, ended.status(), ended.out());
    assertTrue(ended.out().endsWith(" 0 failed\n"), ended.out());
    assertEquals(List.of(), List.of(directory.toFile().list()));
  }

  @Test
  void failureEndsWithOne() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Ended ended = run(Map.of(), "--client-address=127.0.0.1:" + taken.getLocalPort());
      assertEquals(1, ended.status(), ended.out());
      assertTrue(ended.out().contains("FAIL  client port"), ended.out());
      assertTrue(ended.out().contains("what to do: stop that process"), ended.out());
    }
  }

  @Test
  void settingsWithWhichNoNodeStartsAreAFailure() throws Exception {
    Ended ended =
        run(
            Map.of(),
            "--client-address=127.0.0.1:" + freePort(),
            "--admin-password-file=" + directory.resolve("none"));
    assertEquals(1, ended.status(), ended.out());
    assertTrue(
        ended.out().contains("FAIL  settings      " + directory.resolve("none") + " is not there"),
        ended.out());
  }

  @Test
  void misspelledNamesAreRefused() {
    Ended ended = run(Map.of("TOLLGATE_HEEP", "1"));
    assertEquals(2, ended.status());
    assertTrue(ended.err().startsWith("tollgate doctor: nothing reads"), ended.err());
    assertEquals(2, run(Map.of(), "--seconds=31").status());
  }

  @Test
  void clocksOfARunningClusterAreCompared() throws Exception {
    try (GuardedNode node = new GuardedNode("jo", "secret")) {
      Path password = Files.writeString(directory.resolve("password"), "secret\n");
      String address = "--client-address=127.0.0.1:" + freePort();
      Ended known =
          run(
              Map.of("TOLLGATE_ELECTION_TIMEOUT", "60000", "TOLLGATE_HEAP", "150m"),
              address,
              "--url=" + node.url(),
              "--user=jo",
              "--password-file=" + password);
      assertTrue(
          known
              .out()
              .matches("(?s).*PASS  cluster       n1 answers, its clock is \\d+\\.\\d ms .*"),
          known.out());
      Ended stranger = run(Map.of(), address, "--url=" + node.url());
      assertTrue(stranger.out().contains("WARN  cluster"), stranger.out());
      assertFalse((known.out() + stranger.out()).contains("secret"), known.out());
    }
  }

  private static int freePort() throws Exception {
    try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return probe.getLocalPort();
    }
  }
}
