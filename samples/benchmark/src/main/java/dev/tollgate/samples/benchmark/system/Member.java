package dev.tollgate.samples.benchmark.system;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/** One server of several, with what is needed to start it again. */
final class Member {
  private final Ground ground;
  private final String name;
  private final Map<String, String> environment;
  private final List<String> command;
  private final Callable<Boolean> ready;
  private Process process;

  /**
   * Starts the server.
   *
   * @param ready whether the server takes part
   */
  Member(
      Ground ground,
      String name,
      Map<String, String> environment,
      List<String> command,
      Callable<Boolean> ready)
      throws Exception {
    this.ground = ground;
    this.name = name;
    this.environment = environment;
    this.command = command;
    this.ready = ready;
    this.process = ground.start(name, environment, command);
  }

  String name() {
    return name;
  }

  /** Returns when the server takes part; fails with its output if it ends or takes too long. */
  void awaitReady() throws Exception {
    ground.awaitReady(name, process, ready);
  }

  void kill() throws InterruptedException {
    Ground.kill(process);
  }

  /**
   * Sends a signal to the server's process and to those that it has started.
   *
   * @param signal as kill takes it
   */
  void signal(String signal) throws Exception {
    List<String> kill = new ArrayList<>(List.of("kill", "-" + signal));
    kill.add(Long.toString(process.pid()));
    process.descendants().forEach(child -> kill.add(Long.toString(child.pid())));
    int status = new ProcessBuilder(kill).inheritIO().start().waitFor();
    if (status != 0) {
      throw new IOException("kill -" + signal + " of " + name + ": status " + status);
    }
  }

  void startAgain() throws Exception {
    process = ground.start(name, environment, command);
  }
}
