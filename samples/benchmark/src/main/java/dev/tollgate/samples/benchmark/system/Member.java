package dev.tollgate.samples.benchmark.system;

import java.util.List;
import java.util.Map;

/** One server of several: what is needed to start it again. */
final class Member {
  private final Ground ground;
  private final String name;
  private final Map<String, String> environment;
  private final List<String> command;
  private Process process;

  Member(Ground ground, String name, Map<String, String> environment, List<String> command)
      throws Exception {
    this.ground = ground;
    this.name = name;
    this.environment = environment;
    this.command = command;
    this.process = ground.start(name, environment, command);
  }

  String name() {
    return name;
  }

  Process process() {
    return process;
  }

  void kill() throws InterruptedException {
    Ground.kill(process);
  }

  void startAgain() throws Exception {
    process = ground.start(name, environment, command);
  }
}
