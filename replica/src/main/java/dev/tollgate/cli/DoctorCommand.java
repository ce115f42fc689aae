package dev.tollgate.cli;

import dev.tollgate.cli.configuration.Configuration;
import dev.tollgate.cli.doctor.Doctor;
import dev.tollgate.cli.doctor.Finding;
import dev.tollgate.cli.doctor.Patient;
import dev.tollgate.log.ratis.NodeDirectory;
import dev.tollgate.node.NodeSettings;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Checks whether this host suits a node, with the settings of that node. */
@Command(
    name = "doctor",
    description = {
      "Checks whether this host suits a node: settings, Java, memory, files, disk, pauses, clock,"
          + " ports, other nodes.",
      "Give it the options, the environment and the file of `tollgate server`. The node may run."
          + " Ends within a minute: with 0, or with 1 if a check fails."
    },
    mixinStandardHelpOptions = true)
final class DoctorCommand implements Callable<Integer> {
  private static final int MOST_SECONDS = 30;

  @Spec private CommandSpec spec;

  @Mixin private final ServerOptions options = new ServerOptions();

  @SuppressWarnings("UnusedVariable") // adds --config to the help
  @Mixin
  private final ConfigurationOption configuration = new ConfigurationOption();

  @Option(
      names = {"-u", "--url"},
      defaultValue = "${env:TOLLGATE_URL}",
      description =
          "jdbc:tollgate://host:port,.../ of a running cluster whose nodes are asked; without it,"
              + " that of --join. [TOLLGATE_URL]")
  private @Nullable String url;

  @Option(
      names = "--seconds",
      defaultValue = "3",
      description = "How long pauses are measured, 1 to 30. (default: ${DEFAULT-VALUE})")
  private int seconds;

  DoctorCommand() {}

  @Override
  public Integer call() throws Exception {
    if (seconds < 1 || seconds > MOST_SECONDS) {
      throw new ParameterException(
          spec.commandLine(),
          "--seconds is " + seconds + ": it has to be from 1 to " + MOST_SECONDS);
    }
    List<Finding> findings = new ArrayList<>();
    findings.add(settings());
    Doctor doctor = Doctor.of(patient(), Duration.ofSeconds(seconds), spec.commandLine().getOut());
    return doctor.examine(findings) ? 0 : Main.FAILED;
  }

  private Finding settings() {
    try {
      NodeSettings settings = options.settings();
      options.requireProtection(settings, options.users());
      return Finding.pass("settings", "valid; tollgate server --check-config prints them");
    } catch (ParameterException e) {
      return Finding.fail("settings", String.valueOf(e.getMessage()), "correct the settings");
    } catch (IOException e) {
      return Finding.fail("settings", Main.reason(e), "correct the settings");
    }
  }

  private Patient patient() throws IOException {
    String cluster = url == null ? options.raft().join() : url;
    String raftAddress = options.raft().address();
    Map<String, String> peers = new TreeMap<>(options.addresses().peers(options.raft().peers()));
    return new Patient(
        options.id(),
        options.data(),
        heap(),
        options.maxConnections(),
        options.listenAddress(),
        raftAddress == null ? null : options.addresses().parse(raftAddress),
        peers,
        options.raft().electionTimeout(),
        options.raft().snapshotLogBytes(),
        () -> NodeDirectory.isInUse(options.data()),
        cluster,
        cluster == null ? new Properties() : options.raft().login().properties(cluster));
  }

  /** The heap that {@code bin/tollgate} would give a server. */
  private String heap() {
    Configuration settings = Configuration.of(spec);
    String heap = settings == null ? null : settings.variable("TOLLGATE_HEAP");
    return heap == null ? "1g" : heap;
  }
}
