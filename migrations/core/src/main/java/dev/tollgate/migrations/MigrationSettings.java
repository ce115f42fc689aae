package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What a run works on. Immutable; each {@code with} method returns a changed copy. */
public final class MigrationSettings {
  public static final String DEFAULT_TABLE = "tollgate_schema_history";
  public static final Duration DEFAULT_LEASE = Duration.ofSeconds(15);
  public static final Duration DEFAULT_LOCK_WAIT = Duration.ofMinutes(5);

  private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,62}");

  private final Path folder;
  private final Database target;
  private final Database lockDatabase;

  // these change only in a copy, before the copy is handed out
  private @Nullable String lockName;
  private String table = DEFAULT_TABLE;
  private Map<String, String> placeholders = Map.of();
  private @Nullable Version last;
  private boolean outOfOrder;
  private boolean mayBeEmpty;
  private Duration lease = DEFAULT_LEASE;
  private Duration lockWait = DEFAULT_LOCK_WAIT;

  private MigrationSettings(Path folder, Database target, Database lockDatabase) {
    this.folder = requireNonNull(folder, "folder");
    this.target = requireNonNull(target, "target");
    this.lockDatabase = requireNonNull(lockDatabase, "lockDatabase");
  }

  private MigrationSettings copy() {
    MigrationSettings copy = new MigrationSettings(folder, target, lockDatabase);
    copy.lockName = lockName;
    copy.table = table;
    copy.placeholders = placeholders;
    copy.last = last;
    copy.outOfOrder = outOfOrder;
    copy.mayBeEmpty = mayBeEmpty;
    copy.lease = lease;
    copy.lockWait = lockWait;
    return copy;
  }

  /** Scripts for Tollgate itself. */
  public static MigrationSettings of(Path folder, Database tollgate) throws MigrationException {
    return of(folder, tollgate, tollgate);
  }

  /**
   * Scripts for any database.
   *
   * @param lockDatabase the Tollgate that keeps the lock
   */
  public static MigrationSettings of(Path folder, Database target, Database lockDatabase)
      throws MigrationException {
    if (!lockDatabase.isTollgate()) {
      throw wrong(
          "the lock is kept by Tollgate, so "
              + lockDatabase.shortUrl()
              + " cannot keep it: name a Tollgate for it beside the database of the scripts, by a URL"
              + " that begins with jdbc:tollgate: (--lock-url)");
    }
    if (target.isTollgate() && !target.url().equals(lockDatabase.url())) {
      throw wrong("scripts for Tollgate are run under a lock of the same Tollgate");
    }
    return new MigrationSettings(folder, target, lockDatabase);
  }

  /** A history in another table; letters, digits and underscores. */
  public MigrationSettings withTable(String other) throws MigrationException {
    MigrationSettings copy = copy();
    copy.table = requireTableName(other);
    return copy;
  }

  static String requireTableName(String name) throws MigrationException {
    if (!NAME.matcher(name).matches()) {
      throw wrong("'" + name + "' is no name of a table: write letters, digits and underscores");
    }
    return name;
  }

  /** Another lock than the one that is named after schema and history table. */
  public MigrationSettings withLockName(String name) {
    MigrationSettings copy = copy();
    copy.lockName = requireNonNull(name, "name");
    return copy;
  }

  public MigrationSettings withPlaceholders(Map<String, String> values) {
    MigrationSettings copy = copy();
    copy.placeholders = Map.copyOf(values);
    return copy;
  }

  /** Nothing beyond a version is run, nor repeatable scripts. */
  public MigrationSettings upTo(Version version) {
    MigrationSettings copy = copy();
    copy.last = requireNonNull(version, "version");
    return copy;
  }

  /** Scripts with a lower version than the highest in the history are run too, not rejected. */
  public MigrationSettings outOfOrder() {
    MigrationSettings copy = copy();
    copy.outOfOrder = true;
    return copy;
  }

  /** A folder without scripts is no mistake. */
  public MigrationSettings allowEmpty() {
    MigrationSettings copy = copy();
    copy.mayBeEmpty = true;
    return copy;
  }

  /** How long the lock outlives the process, and how long to wait for another run. */
  public MigrationSettings withLock(Duration newLease, Duration newLockWait) {
    MigrationSettings copy = copy();
    copy.lease = requireNonNull(newLease, "newLease");
    copy.lockWait = requireNonNull(newLockWait, "newLockWait");
    return copy;
  }

  Path folder() {
    return folder;
  }

  Database target() {
    return target;
  }

  Database lockDatabase() {
    return lockDatabase;
  }

  Optional<String> lockName() {
    return Optional.ofNullable(lockName);
  }

  String table() {
    return table;
  }

  Map<String, String> placeholders() {
    return placeholders;
  }

  Optional<Version> last() {
    return Optional.ofNullable(last);
  }

  boolean isOutOfOrder() {
    return outOfOrder;
  }

  boolean mayBeEmpty() {
    return mayBeEmpty;
  }

  Duration lease() {
    return lease;
  }

  Duration lockWait() {
    return lockWait;
  }

  private static MigrationException wrong(String message) {
    return new MigrationException(MigrationException.Reason.INPUT, message);
  }
}
