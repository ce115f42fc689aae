package dev.tollgate.samples.torture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The whole of it for some seconds, with the faults that need no rights. */
@Timeout(180)
class TortureIT {
  private static final String SECONDS = System.getProperty("tollgate.torture.seconds", "15");

  /** The leader is stopped for a while, and then it is killed; both fit in on slow machines too. */
  private static final String SEED = System.getProperty("tollgate.torture.seed", "320863");

  @TempDir Path directory;

  @Test
  void promisesHoldWhileNodesAreKilledAndPaused() throws Exception {
    Path report = directory.resolve("torture.svg");
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    int status;
    try (PrintStream out = new PrintStream(said, true, StandardCharsets.UTF_8)) {
      status =
          Torture.run(
              out,
              "--home=" + System.getProperty("tollgate.home"),
              "--seconds=" + SECONDS,
              "--seed=" + SEED,
              "--faults=kill,pause",
              "--lease=3",
              "--report=" + report);
    }
    String text = said.toString(StandardCharsets.UTF_8);
    System.out.println(text);
    assertEquals(0, status, text);
    Map<String, String> figures =
        text.lines()
            .filter(line -> line.length() > 33 && line.charAt(32) == ' ')
            .collect(
                Collectors.toMap(
                    line -> line.substring(0, 32).strip(),
                    line -> line.substring(33),
                    (one, other) -> one));
    for (String figure :
        new String[] {
          "writes accepted", "stale writes refused", "locks granted", "snapshots written"
        }) {
      assertTrue(Integer.parseInt(figures.get(figure)) > 0, figure + ": " + text);
    }
    assertTrue(figures.containsKey("fault kill") && figures.containsKey("fault pause"), text);
    assertTrue(Files.readString(report).contains("promises held"));
  }
}
