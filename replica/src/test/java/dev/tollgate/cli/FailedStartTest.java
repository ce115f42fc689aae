package dev.tollgate.cli;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cluster.Ports;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.RecordingConsumer;
import dev.tollgate.log.ratis.RatisLog;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a server prints that does not start: one message, which says why. */
class FailedStartTest {
  private static final String ID = "n1";

  @TempDir private Path directory;
  private Path data;

  @BeforeEach
  void runANode() throws IOException {
    data = directory.resolve("data");
    RecordingConsumer consumer = new RecordingConsumer();
    try (RatisLog log = new RatisLog(RaftSettings.alone(ID, data), consumer)) {
      log.start();
      await().untilTrue(consumer.leading);
    }
  }

  private Path file(String name) throws IOException {
    try (Stream<Path> files = Files.walk(data)) {
      return files
          .filter(file -> file.getFileName().toString().startsWith(name))
          .findFirst()
          .orElseThrow();
    }
  }

  /** A program that has ended. */
  private record Ended(int status, List<String> errors, String said) {}

  private Ended start() throws Exception {
    Path said = directory.resolve("said");
    Process server =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Dlogback.configurationFile=conf/logback.xml",
                "-XX:TieredStopAtLevel=1",
                "-Xmx300m",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "server",
                "--id=" + ID,
                "--data=" + data,
                "--client-address=127.0.0.1:" + Ports.free())
            .redirectErrorStream(true)
            .redirectOutput(said.toFile())
            .start();
    int status = server.waitFor();
    String text = Files.readString(said, StandardCharsets.UTF_8);
    return new Ended(
        status,
        text.lines()
            .filter(line -> line.contains(" ERROR ") || line.startsWith("tollgate server: "))
            .toList(),
        text);
  }

  private static void assertOneError(Ended server, int status, String message) {
    assertEquals(status, server.status(), server.said());
    assertEquals(1, server.errors().size(), server.said());
    assertTrue(server.errors().get(0).contains(message), server.said());
    assertTrue(server.said().lines().noneMatch(line -> line.startsWith("\tat ")), server.said());
  }

  @Test
  void nodeThatHasLostItsLogIsNotStartedAgain() throws Exception {
    Files.delete(file("log_inprogress_"));
    assertOneError(start(), 78, "node n1 has lost entries: ");
  }

  @Test
  void nodeWithADamagedFileSaysWhatToDo() throws Exception {
    Files.writeString(file("members"), "x", StandardOpenOption.APPEND);
    assertOneError(start(), 1, "node n1 does not start: its list of members in ");
  }
}
