package dev.tollgate.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A program of the tests with candidates of an election, in a process of its own. */
final class CandidateProcess implements AutoCloseable {
  private final Process process;

  /**
   * @param out where it appends its lines; its errors go to a file beside this
   * @param options of the JVM
   */
  CandidateProcess(Class<?> program, Path out, List<String> options, String... arguments)
      throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1"));
    command.addAll(options);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
    command.addAll(List.of(arguments));
    Path errors = out.resolveSibling(out.getFileName() + ".err");
    process =
        new ProcessBuilder(command)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(out.toFile()))
            .redirectError(ProcessBuilder.Redirect.appendTo(errors.toFile()))
            .start();
  }

  /** SIGSTOP: all of its threads stand still, and its connections stay open. */
  void pause() throws Exception {
    signal("STOP");
  }

  void resume() throws Exception {
    signal("CONT");
  }

  private void signal(String name) throws Exception {
    int status = new ProcessBuilder("kill", "-" + name, "" + process.pid()).start().waitFor();
    if (status != 0) {
      throw new IOException("kill -" + name + ": " + status);
    }
  }

  /** SIGKILL. */
  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
