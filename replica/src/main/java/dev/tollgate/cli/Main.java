package dev.tollgate.cli;

import static java.util.Objects.requireNonNull;

import dev.tollgate.cli.configuration.Configuration;
import dev.tollgate.core.command.FeatureLevels;
import dev.tollgate.log.NodeVersion;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.Security;
import java.sql.SQLException;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * The entry point of the program. Most options can also be set in the environment; see their help.
 */
@Command(
    name = "tollgate",
    description = "Locks, leases and fencing tokens in a replicated SQL store.",
    subcommands = {
      ServerCommand.class,
      DoctorCommand.class,
      SqlCommand.class,
      LockCommand.class,
      MigrateCommand.class,
      StatusCommand.class,
      TopCommand.class,
      NodesCommand.class,
      BackupCommand.class,
      VerifyCommand.class,
      AuditCommand.class,
      RestoreCommand.class,
      DumpCommand.class,
      ReseedCommand.class,
      SkipCommand.class,
      CertificatesCommand.class,
      ArchiveCommand.class,
      HelpCommand.class
    },
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class)
public final class Main implements Runnable {
  /** Exit status of an invalid command line, as in picocli. */
  static final int USAGE = CommandLine.ExitCode.USAGE;

  /** Exit status of a command that was understood and failed. */
  static final int FAILED = 1;

  /** System property: the configuration file of the distribution, which may be missing. */
  private static final String CONFIGURATION = "tollgate.config";

  private static final String NAMES_KEPT = "networkaddress.cache.ttl";
  private static final String UNKNOWN_NAMES_KEPT = "networkaddress.cache.negative.ttl";
  private static final String DEFAULT_SECONDS_UNKNOWN = "10";

  @Spec private CommandSpec spec;

  Main() {}

  public static void main(String[] arguments) {
    keepNamesForAMoment();
    PlainOutput.install();
    System.exit(commandLine().execute(arguments));
  }

  /**
   * A node that comes back elsewhere, as in Kubernetes, would be sought at its former address for
   * the 30 s for which a JVM keeps a name, and for 10 s if its name was not known at first. The
   * resolver of the system keeps names too. A file of security properties has its way.
   */
  private static void keepNamesForAMoment() {
    if (Security.getProperty(NAMES_KEPT) == null) {
      Security.setProperty(NAMES_KEPT, "1");
    }
    if (DEFAULT_SECONDS_UNKNOWN.equals(Security.getProperty(UNKNOWN_NAMES_KEPT))) {
      Security.setProperty(UNKNOWN_NAMES_KEPT, "1");
    }
  }

  static CommandLine commandLine() {
    String file = System.getProperty(CONFIGURATION);
    return commandLine(System.getenv(), file == null ? null : Path.of(file));
  }

  /**
   * @param configuration the file with settings of a node that is read if no other is named
   */
  static CommandLine commandLine(Map<String, String> environment, @Nullable Path configuration) {
    CommandLine program =
        new CommandLine(new Main())
            .setCaseInsensitiveEnumValuesAllowed(true)
            // a command of tollgate lock may have arguments such as @file
            .setExpandAtFiles(false)
            .setParameterExceptionHandler(Main::misused)
            .setExecutionExceptionHandler(Main::failed);
    CommandLine server = subcommand(program, "server");
    Configuration settings =
        new Configuration(program, server.getCommandSpec(), environment, configuration);
    settings.serve(server);
    settings.serve(subcommand(program, "doctor"));
    return program;
  }

  private static CommandLine subcommand(CommandLine program, String name) {
    return requireNonNull(program.getSubcommands().get(name), name);
  }

  /** Prints what is wrong with the arguments, and where to read the valid ones. */
  private static int misused(ParameterException e, String[] arguments) {
    CommandLine command = e.getCommandLine();
    String name = command.getCommandSpec().qualifiedName();
    command.getErr().println(name + ": " + e.getMessage());
    Configuration settings = Configuration.of(command.getCommandSpec());
    if (settings != null) {
      settings.originsIn(String.valueOf(e.getMessage())).forEach(command.getErr()::println);
    }
    UnmatchedArgumentException.printSuggestions(e, command.getErr());
    command.getErr().println("See " + name + " --help");
    return USAGE;
  }

  /** Refusals of the system or of a cluster print one sentence; stack traces are for bugs. */
  private static int failed(Exception e, CommandLine command, ParseResult arguments)
      throws Exception {
    if (e instanceof IOException || e instanceof SQLException) {
      command.getErr().println(command.getCommandSpec().qualifiedName() + ": " + reason(e));
      return FAILED;
    }
    throw e;
  }

  /** Prints on standard error what did not happen and why; returns the exit status. */
  static int failed(String what, IOException why) {
    System.err.println("tollgate: " + what + ": " + reason(why));
    return FAILED;
  }

  static String reason(Exception why) {
    if (why instanceof NoSuchFileException missing) {
      return missing.getFile() + " is not there";
    }
    if (why instanceof AccessDeniedException denied) {
      return denied.getFile() + ": permission denied";
    }
    return why.getMessage() == null ? why.toString() : why.getMessage();
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "which command?");
  }

  /** The version of this build and of its Java runtime. */
  static final class Version implements CommandLine.IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {
        "Tollgate " + ofTollgate(),
        formats(NodeVersion.of(FeatureLevels.STANDARD)),
        "Java " + Runtime.version() + ", " + System.getProperty("java.vendor"),
      };
    }

    private static String formats(NodeVersion version) {
      return "Protocol "
          + version.protocol()
          + ", log "
          + version.logFormat()
          + ", snapshots "
          + version.snapshotFormat()
          + ", feature level "
          + version.featureLevel();
    }

    /** As the jar's manifest says; classes outside a jar have none. */
    static String ofTollgate() {
      String version = Main.class.getPackage().getImplementationVersion();
      return version == null ? "(not packaged)" : version;
    }
  }
}
