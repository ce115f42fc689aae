package dev.tollgate.cli;

import dev.tollgate.migrations.Database;
import dev.tollgate.migrations.MigrationException;
import dev.tollgate.migrations.MigrationSettings;
import dev.tollgate.migrations.Migrations;
import dev.tollgate.migrations.Progress;
import dev.tollgate.migrations.Script;
import dev.tollgate.migrations.ScriptState;
import dev.tollgate.migrations.Version;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** Runs the scripts of a folder once each, under a lock. */
@Command(
    name = "migrate",
    description = {
      "Runs the SQL scripts of a folder once each, under a lock of Tollgate.",
      "Scripts are called V1.2__name.sql, which run once in the order of their versions, and"
          + " R__name.sql, which run after those whenever they have changed. docs/migrations.md says"
          + " what is guaranteed."
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
      "10:it cannot be known whether a statement of an earlier run took effect"
    },
    mixinStandardHelpOptions = true)
final class MigrateCommand implements Callable<Integer> {
  private static final Pattern DURATION = Pattern.compile("(\\d{1,9})(ms|s|m|h)");
  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss");

  @Spec private CommandSpec spec;

  @Option(
      names = {"-u", "--url"},
      required = true,
      scope = ScopeType.INHERIT,
      defaultValue = "${env:TOLLGATE_URL}",
      description = "The database that the scripts change. [TOLLGATE_URL]")
  private String url;

  @Option(
      names = "--dir",
      required = true,
      scope = ScopeType.INHERIT,
      defaultValue = "${env:TOLLGATE_MIGRATIONS}",
      description = "The folder of the scripts. [TOLLGATE_MIGRATIONS]")
  private Path folder;

  @Option(
      names = "--lock-url",
      scope = ScopeType.INHERIT,
      defaultValue = "${env:TOLLGATE_LOCK_URL}",
      description =
          "The Tollgate that keeps the lock, if the scripts change another database."
              + " [TOLLGATE_LOCK_URL]")
  private @Nullable String lockUrl;

  @Option(
      names = "--user",
      scope = ScopeType.INHERIT,
      defaultValue = "${env:TOLLGATE_DATABASE_USER}",
      description = "User of the other database. [TOLLGATE_DATABASE_USER]")
  private @Nullable String user;

  @Option(
      names = "--password-file",
      scope = ScopeType.INHERIT,
      defaultValue = "${env:TOLLGATE_DATABASE_PASSWORD_FILE}",
      description =
          "File whose first line is that user's password. [TOLLGATE_DATABASE_PASSWORD_FILE]")
  private @Nullable Path passwordFile;

  @Option(
      names = "--classpath",
      scope = ScopeType.INHERIT,
      defaultValue = "${env:TOLLGATE_DRIVERS}",
      description = "Jars with the JDBC driver of the other database. [TOLLGATE_DRIVERS]")
  private @Nullable String classpath;

  @Option(
      names = "--placeholder",
      scope = ScopeType.INHERIT,
      paramLabel = "NAME=VALUE",
      description = "What stands for $${NAME} in scripts; may be given several times.")
  private Map<String, String> placeholders = new TreeMap<>();

  @Option(
      names = "--target",
      scope = ScopeType.INHERIT,
      paramLabel = "VERSION",
      description = "The last version to run; repeatable scripts are then left out.")
  private @Nullable String target;

  @Option(
      names = "--out-of-order",
      scope = ScopeType.INHERIT,
      description = "Run scripts with a lower version than the highest that was run.")
  private boolean outOfOrder;

  @Option(
      names = "--table",
      scope = ScopeType.INHERIT,
      defaultValue = MigrationSettings.DEFAULT_TABLE,
      description = "The history table. Default: ${DEFAULT-VALUE}")
  private String table;

  @Option(
      names = "--lock",
      scope = ScopeType.INHERIT,
      description = "Name of the lock. Default: migrations:<schema>.<table>")
  private @Nullable String lockName;

  @Option(
      names = "--lock-wait",
      scope = ScopeType.INHERIT,
      defaultValue = "5m",
      paramLabel = "DURATION",
      description = "How long to wait for another run: 500ms, 30s, 5m, 1h. Default: 5m")
  private String lockWait;

  @Option(
      names = "--lease",
      scope = ScopeType.INHERIT,
      defaultValue = "15s",
      paramLabel = "DURATION",
      description = "How long the lock outlives this process if it dies. Default: 15s")
  private String lease;

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
                    System.out.printf(
                        "%s: %d statements%n", script.path(), script.statements().size()));
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
      throw misuse("--last-statement is '" + lastStatement + "': write done or undone");
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
    try (URLClassLoader drivers = drivers()) {
      action.with(new Migrations(settings(drivers), new Printed(System.out)));
      return 0;
    } catch (MigrationException e) {
      spec.commandLine().getErr().println("tollgate migrate: " + e.getMessage());
      return status(e.reason());
    } catch (IOException e) {
      return Main.failed("nothing was run", e);
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

  private MigrationSettings settings(ClassLoader drivers) throws MigrationException, IOException {
    Database database = Database.at(url, credentials(), drivers);
    Database lockDatabase = lockUrl == null ? database : Database.at(lockUrl, Map.of(), drivers);
    MigrationSettings settings =
        MigrationSettings.of(folder, database, lockDatabase)
            .withTable(table)
            .withPlaceholders(placeholders)
            .withLock(duration("--lease", lease), duration("--lock-wait", lockWait));
    if (lockName != null) {
      settings = settings.withLockName(lockName);
    }
    if (target != null) {
      settings = settings.upTo(Version.parse(target));
    }
    return outOfOrder ? settings.outOfOrder() : settings;
  }

  private Map<String, String> credentials() throws IOException {
    Map<String, String> credentials = new TreeMap<>();
    if (user != null) {
      credentials.put("user", user);
    }
    if (passwordFile != null) {
      credentials.put("password", Files.readString(passwordFile).lines().findFirst().orElse(""));
    }
    return credentials;
  }

  private URLClassLoader drivers() {
    List<URL> jars = new ArrayList<>();
    for (String jar : classpath == null ? new String[0] : classpath.split(File.pathSeparator, -1)) {
      Path file = Path.of(jar);
      if (!Files.exists(file)) {
        throw misuse("--classpath: " + jar + " is not there");
      }
      try {
        jars.add(file.toUri().toURL());
      } catch (MalformedURLException e) {
        throw misuse("--classpath: " + jar + " is no file: " + e.getMessage());
      }
    }
    return new URLClassLoader(jars.toArray(URL[]::new), MigrateCommand.class.getClassLoader());
  }

  private Duration duration(String option, String text) {
    Matcher matcher = DURATION.matcher(text);
    if (!matcher.matches()) {
      throw misuse(option + "=" + text + " is no duration: write 500ms, 30s, 5m or 1h");
    }
    long number = Long.parseLong(matcher.group(1));
    return switch (matcher.group(2)) {
      case "ms" -> Duration.ofMillis(number);
      case "s" -> Duration.ofSeconds(number);
      case "m" -> Duration.ofMinutes(number);
      default -> Duration.ofHours(number);
    };
  }

  private ParameterException misuse(String message) {
    return new ParameterException(spec.commandLine(), message);
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

  /** A line for each script and statement, as soon as there is something to say. */
  private record Printed(PrintStream out) implements Progress {
    @Override
    public void lockTaken(String name, long token) {
      out.printf("lock '%s' taken under token %d%n", name, token);
    }

    @Override
    public void scriptBegins(Script script, int alreadyDone) {
      out.printf(
          "%s: %s%n",
          script.path(),
          alreadyDone == 0
              ? script.statements().size() + " statements"
              : "goes on at statement " + (alreadyDone + 1) + " of " + script.statements().size());
    }

    @Override
    public void statementDone(Script script, int number, Duration took) {
      out.printf(
          "%s:%d: statement %d of %d in %d ms%n",
          script.path(),
          script.statements().get(number - 1).line(),
          number,
          script.statements().size(),
          took.toMillis());
    }

    @Override
    public void scriptDone(Script script, Duration took) {
      out.printf("%s: done in %d ms%n", script.path(), took.toMillis());
    }
  }
}
