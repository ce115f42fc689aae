package dev.tollgate.cluster;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The program in a process of its own, run from the class path of the tests to its end. */
record Program(int status, String out, String err) {
  static Program run(String... arguments) throws Exception {
    Path out = Files.createTempFile("tollgate", ".out");
    Path err = Files.createTempFile("tollgate", ".err");
    try {
      List<String> command =
          new ArrayList<>(
              List.of(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-Xmx256m",
                  "-XX:+UseSerialGC",
                  "-XX:TieredStopAtLevel=1",
                  "-Duser.timezone=UTC",
                  "-DTOLLGATE_LOG_LEVEL=WARN",
                  "-Dlogback.configurationFile="
                      + Path.of("conf", "logback.xml").toAbsolutePath()));
      command.addAll(ClassArchive.options());
      command.add("dev.tollgate.cli.Main");
      command.addAll(List.of(arguments));
      Process process =
          new ProcessBuilder(command)
              .redirectOutput(out.toFile())
              .redirectError(err.toFile())
              .start();
      assertTrue(
          process.waitFor(ClusterProcesses.DEADLINE.toSeconds(), TimeUnit.SECONDS),
          "it does not end");
      return new Program(process.exitValue(), Files.readString(out), Files.readString(err));
    } finally {
      Files.delete(out);
      Files.delete(err);
    }
  }
}
