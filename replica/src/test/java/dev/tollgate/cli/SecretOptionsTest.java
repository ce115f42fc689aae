package dev.tollgate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;

/** Every user of a machine sees the arguments of its processes, so no option takes a secret. */
class SecretOptionsTest {
  private static final Pattern SECRET = Pattern.compile("--.*(pass|secret|token|key).*");

  /** Types of options that say how long a password has to be, and the like. */
  private static final Set<Class<?>> NO_SECRETS = Set.of(int.class, boolean.class);

  @Command(subcommands = Careless.Sub.class)
  private static final class Careless {
    @Command(name = "sub")
    private static final class Sub {
      @Option(names = "--password")
      private String password = "";

      @Override
      public String toString() {
        return password;
      }
    }
  }

  private static List<String> takingSecrets(CommandLine command) {
    List<String> found = new ArrayList<>();
    for (OptionSpec option : command.getCommandSpec().options()) {
      for (String name : option.names()) {
        // a command prints the secret on a pipe
        boolean elsewhere =
            name.endsWith("-file") || name.endsWith("-command") || option.type() == Path.class;
        if (SECRET.matcher(name).matches() && !elsewhere && !NO_SECRETS.contains(option.type())) {
          found.add(command.getCommandName() + " " + name);
        }
      }
    }
    command.getSubcommands().values().forEach(sub -> found.addAll(takingSecrets(sub)));
    return found;
  }

  @Test
  void secretsComeFromFiles() {
    assertEquals(List.of(), takingSecrets(Main.commandLine()));
  }

  @Test
  void ruleCatchesACarelessOption() {
    assertEquals(List.of("sub --password"), takingSecrets(new CommandLine(new Careless())));
  }
}
