package dev.tollgate.distribution;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The units of systemd, by the judgment of systemd itself where it is installed. */
class SystemdUnitsIT {
  private static final String HOME = "/opt/tollgate";

  @TempDir Path directory;

  private static Path units() {
    return Path.of(System.getProperty("tollgate.home"), "systemd");
  }

  /** As installed, but for the place of the program: systemd looks whether it is there. */
  private List<Path> install() throws IOException {
    try (Stream<Path> files = Files.list(units())) {
      for (Path file : files.toList()) {
        Files.writeString(
            directory.resolve(file.getFileName()),
            Files.readString(file).replace(HOME, System.getProperty("tollgate.home")));
      }
    }
    try (Stream<Path> files = Files.list(directory)) {
      return files.sorted().toList();
    }
  }

  private String complaints(Path unit) throws Exception {
    Commands.Ended ended =
        Commands.run(directory, Map.of(), "systemd-analyze", "verify", "--man=no", unit.toString());
    // what it says about units of this machine is none of ours
    return ended
        .err()
        .lines()
        .filter(line -> line.contains(directory.toString()) || line.startsWith("tollgate"))
        .reduce("", (all, line) -> all + line + "\n");
  }

  private static void assumeSystemd() {
    boolean there = Commands.exists("systemd-analyze");
    if (!there) {
      System.out.println("SystemdUnitsIT IS SKIPPED: there is no systemd-analyze");
    }
    assumeTrue(there, "there is no systemd-analyze");
  }

  @Test
  void systemdHasNoComplaint() throws Exception {
    assumeSystemd();
    List<Path> installed = install();
    assertEquals(3, installed.size(), installed::toString);
    for (Path unit : installed) {
      assertEquals("", complaints(unit), unit.toString());
    }
  }

  @Test
  void systemdWouldComplain() throws Exception {
    assumeSystemd();
    Path unit = install().get(2);
    String text = Files.readString(unit);
    Files.writeString(unit, text.replace("LimitNOFILE", "LimitNOFILES"));
    assertTrue(complaints(unit).contains("LimitNOFILES"));
    Files.writeString(unit, text.replace("bin/tollgate", "bin/no-tollgate"));
    assertTrue(complaints(unit).contains("bin/no-tollgate"));
  }

  @Test
  void nodeIsStoppedGentlyAndLeftAloneWhenItWouldEndAgain() throws IOException {
    List<String> lines = Files.readAllLines(units().resolve("tollgate.service"));
    for (String line :
        List.of(
            "SuccessExitStatus=143",
            "RestartPreventExitStatus=2 78",
            "TimeoutStopSec=2min",
            "LimitNOFILE=65536")) {
      assertTrue(lines.contains(line), line);
    }
    assertFalse(lines.stream().anyMatch(line -> line.startsWith("KillSignal")), "SIGTERM");
  }
}
