package dev.tollgate.cli;

import dev.tollgate.migrations.MigrationException;
import dev.tollgate.migrations.Migrations;
import dev.tollgate.migrations.Script;
import dev.tollgate.migrations.ScriptState;
import java.io.IOException;
import java.net.URLClassLoader;
import java.time.Duration;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs the scripts of a folder once each, under a lock. */
@Command(
    name = "migrate",
    description = {
      "Runs the SQL scripts of a folder once each, under a lock of Tollgate.",
      "Scripts are called V1.2__name.sql, which run once in the order of their versions, and"
          + " R__name.sql, which run after those whenever they have changed. docs/migrations.md"
          + " says what is guaranteed."
    },
    exitCodeListHeading = "Exit status:%n",
    exitCodeList = {
      "0:all scripts have been run, or what was asked for was done",
      "1:a database failed in another way than below",
      "2:the command line is wrong",
      "3:a script, the folder, a placeholder or a setting is wrong; nothing was run",
      "4:scripts that were run have changed or are missing; nothing was run",
      "5:a statement failed",
      "6:another run holds the lock",
      "7:the lock was lost, and statements are refused",
      "8:no database answered, or Tollgate has no quorum",
      "9:the database rejected the user or the password",
      "10:it cannot be known whether a statement of an earlier run took effect, or what it left in"
          + " its session"
    },
    mixinStandardHelpOptions = true)
final class MigrateCommand implements Callable<Integer> {
  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss");

  @Spec private CommandSpec spec;

  @Mixin private final MigrateOptions options = new MigrateOptions();

  @Option(names = "--dry-run", description = "Print which scripts would be run, and run none.")
  private boolean dryRun;

  MigrateCommand() {}

  @Override
  public Integer call() {
    return perform(
        migrations -> {
          if (dryRun) {
            List<Script> pending = migrations.pending();
            pending.forEach(
                script ->
                    System.out.println(script.path() + ": " + PrintedProgress.statements(script)));
            System.out.println(scripts(pending.size()) + " would be run");
          } else {
            System.out.println(scripts(migrations.migrate()) + " run");
          }
        });
  }

  @Command(
      description = "Prints the history, and the scripts that are not in it.",
      mixinStandardHelpOptions = true)
  int info() {
    return perform(migrations -> print(migrations.info()));
  }

  @Command(
      description = "Fails if scripts that were run have changed or are missing.",
      mixinStandardHelpOptions = true)
  int validate() {
    return perform(
        migrations -> {
          migrations.validate();
          System.out.println("the history and the scripts agree");
        });
  }

  @Command(
      description = {
        "Removes failed scripts of which nothing was done from the history, and accepts changed and"
            + " missing files."
      },
      mixinStandardHelpOptions = true)
  int repair(
      @Option(
              names = "--last-statement",
              paramLabel = "done|undone",
              description =
                  "What became of the statement at which an earlier run ended, if the history does"
                      + " not know.")
          @Nullable String lastStatement) {
    if (lastStatement != null && !lastStatement.equals("done") && !lastStatement.equals("undone")) {
      throw options.misuse("--last-statement is '" + lastStatement + "': write done or undone");
    }
    return perform(
        migrations -> {
          List<String> changes =
              migrations.repair(Optional.ofNullable(lastStatement).map("done"::equals));
          changes.forEach(System.out::println);
          System.out.println(changes.size() + " rows of the history changed");
        });
  }

  private interface Action {
    void with(Migrations migrations) throws MigrationException;
  }

  private int perform(Action action) {
    try (URLClassLoader drivers = options.drivers()) {
      action.with(new Migrations(options.settings(drivers), new PrintedProgress(System.out)));
      return 0;
    } catch (MigrationException e) {
      spec.commandLine().getErr().println("tollgate migrate: " + e.getMessage());
      return status(e.reason());
    } catch (IOException e) {
      // a file that an option names
      var unused = Main.failed("nothing was run", e);
      return status(MigrationException.Reason.INPUT);
    }
  }

  static int status(MigrationException.Reason reason) {
    return switch (reason) {
      case DATABASE -> Main.FAILED;
      case INPUT -> 3;
      case MISMATCH -> 4;
      case STATEMENT -> 5;
      case LOCK_BUSY -> 6;
      case LOCK_LOST -> 7;
      case UNREACHABLE -> 8;
      case CREDENTIALS -> 9;
      case UNKNOWN_OUTCOME -> 10;
    };
  }

  private static String scripts(int count) {
    return count == 1 ? "1 script" : count + " scripts";
  }

  private static void print(List<ScriptState> states) {
    TextTable text =
        TextTable.withColumns(
            "VERSION", "SCRIPT", "STATE", "DONE", "TOKEN", "HOST", "STARTED", "MS");
    for (ScriptState state : states) {
      ScriptState.Run run = state.run();
      text.row(
          state.version(),
          state.path(),
          state.kind().name().toLowerCase(Locale.ROOT).replace('_', ' '),
          state.done() + "/" + state.statements(),
          run == null ? null : run.token(),
          run == null ? null : run.host(),
          run == null ? null : TIME.format(run.startedAt()),
          run == null ? null : run.took().map(Duration::toMillis).orElse(null));
    }
    text.print(System.out);
  }
}
