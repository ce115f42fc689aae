package dev.tollgate.cli;

import dev.tollgate.migrations.Database;
import dev.tollgate.migrations.MigrationException;
import dev.tollgate.migrations.MigrationSettings;
import dev.tollgate.migrations.Version;
import dev.tollgate.sql.SqlLimits;
import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** What the commands of {@link MigrateCommand} work on, as the command line says it. */
final class MigrateOptions {
  private static final String TOLLGATE = "jdbc:tollgate:";

  /** The longest that one request for a lock may wait. */
  private static final Duration LONGEST_WAIT = Duration.ofHours(1);

  private static final Pattern DURATION = Pattern.compile("(\\d{1,9})(ms|s|m|h)");

  /** Of the command that is given, for its usage. */
  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

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
      names = "--lock-user",
      scope = ScopeType.INHERIT,
      defaultValue = "${env:TOLLGATE_USER}",
      description = "User of the Tollgate that keeps the lock, if it requires one. [TOLLGATE_USER]")
  private @Nullable String lockUser;

  @Option(
      names = "--lock-password-file",
      scope = ScopeType.INHERIT,
      defaultValue = "${env:TOLLGATE_PASSWORD_FILE}",
      description = "File whose first line is that user's password. [TOLLGATE_PASSWORD_FILE]")
  private @Nullable Path lockPasswordFile;

  @Option(
      names = "--user",
      scope = ScopeType.INHERIT,
      defaultValue = "${env:TOLLGATE_DATABASE_USER}",
      description =
          "User of the database that the scripts change; of a Tollgate, the default is --lock-user."
              + " [TOLLGATE_DATABASE_USER]")
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
      names = "--allow-empty",
      scope = ScopeType.INHERIT,
      description = "A folder without scripts is no error.")
  private boolean allowEmpty;

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

  MigrateOptions() {}

  MigrationSettings settings(ClassLoader drivers) throws MigrationException, IOException {
    boolean tollgate = url.startsWith(TOLLGATE);
    Database database =
        Database.at(
            url,
            tollgate && user == null && passwordFile == null
                ? credentials(lockUser, lockPasswordFile)
                : credentials(user, passwordFile),
            drivers);
    Database lockDatabase =
        lockUrl == null
            ? database
            : Database.at(lockUrl, credentials(lockUser, lockPasswordFile), drivers);
    MigrationSettings settings =
        MigrationSettings.of(folder, database, lockDatabase)
            .withTable(table)
            .withPlaceholders(placeholders)
            .withLock(lease(), lockWait());
    if (lockName != null) {
      if (lockName.isBlank() || lockName.length() > SqlLimits.LOCK_NAME_LENGTH) {
        throw misuse(
            "--lock has "
                + lockName.length()
                + " characters: a name has 1 to "
                + SqlLimits.LOCK_NAME_LENGTH
                + ", not all of them spaces");
      }
      settings = settings.withLockName(lockName);
    }
    if (target != null) {
      settings = settings.upTo(Version.parse(target));
    }
    if (allowEmpty) {
      settings = settings.allowEmpty();
    }
    return outOfOrder ? settings.outOfOrder() : settings;
  }

  private static Map<String, String> credentials(@Nullable String user, @Nullable Path passwordFile)
      throws IOException {
    Map<String, String> credentials = new TreeMap<>();
    if (user != null) {
      credentials.put("user", user);
    }
    if (passwordFile != null) {
      credentials.put("password", Files.readString(passwordFile).lines().findFirst().orElse(""));
    }
    return credentials;
  }

  /** The drivers of the other database beside those of this program; close it after use. */
  URLClassLoader drivers() {
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
    return new URLClassLoader(jars.toArray(URL[]::new), MigrateOptions.class.getClassLoader());
  }

  private Duration lease() {
    Duration most = duration("--lease", lease);
    if (most.isZero()) {
      throw misuse("--lease=" + lease + " is too short: a lock needs a lease, such as 15s");
    }
    return most;
  }

  private Duration lockWait() {
    Duration wait = duration("--lock-wait", lockWait);
    if (wait.compareTo(LONGEST_WAIT) > 0) {
      throw misuse("--lock-wait=" + lockWait + " is too long: at most 1h");
    }
    return wait;
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

  ParameterException misuse(String message) {
    return new ParameterException(command.commandLine(), message);
  }
}
