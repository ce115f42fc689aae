package dev.tollgate.cli;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The entry of the program. Every option can also be set in the environment, see its help. */
@Command(
    name = "tollgate",
    description = "Locks, leases and fencing tokens in a replicated SQL store.",
    subcommands = {
      ServerCommand.class,
      SqlCommand.class,
      StatusCommand.class,
      NodesCommand.class,
      BackupCommand.class,
      RestoreCommand.class,
      DumpCommand.class,
      ReseedCommand.class,
      SkipCommand.class,
      HelpCommand.class
    },
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class)
public final class Main implements Runnable {
  /** Exit status of a command line that makes no sense, as picocli has it. */
  static final int USAGE = CommandLine.ExitCode.USAGE;

  /** Exit status of a command that was understood and failed. */
  static final int FAILED = 1;

  @Spec private CommandSpec spec;

  Main() {}

  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    return new CommandLine(new Main());
  }

  /** Says on standard error what did not happen and why, and gives the exit status. */
  static int failed(String what, IOException why) {
    String reason =
        why instanceof NoSuchFileException missing
            ? missing.getFile() + " is not there"
            : String.valueOf(why.getMessage());
    System.err.println("tollgate: " + what + ": " + reason);
    return FAILED;
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Which command? See tollgate help.");
  }

  /** The version of this build and of what it stands on. */
  static final class Version implements CommandLine.IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = Main.class.getPackage().getImplementationVersion();
      return new String[] {"Tollgate " + (version == null ? "(not packaged)" : version)};
    }
  }
}
