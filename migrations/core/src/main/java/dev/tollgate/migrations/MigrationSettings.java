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
  private final @Nullable String lockName;
  private final String table;
  private final Map<String, String> placeholders;
  private final @Nullable Version last;
  private final boolean outOfOrder;
  private final Duration lease;
  private final Duration lockWait;

  private MigrationSettings(
      Path folder,
      Database target,
      Database lockDatabase,
      @Nullable String lockName,
      String table,
      Map<String, String> placeholders,
      @Nullable Version last,
      boolean outOfOrder,
      Duration lease,
      Duration lockWait) {
    this.folder = requireNonNull(folder, "folder");
    this.target = requireNonNull(target, "target");
    this.lockDatabase = requireNonNull(lockDatabase, "lockDatabase");
    this.lockName = lockName;
    this.table = requireNonNull(table, "table");
    this.placeholders = Map.copyOf(placeholders);
    this.last = last;
    this.outOfOrder = outOfOrder;
    this.lease = requireNonNull(lease, "lease");
    this.lockWait = requireNonNull(lockWait, "lockWait");
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
              + lockDatabase.url().replaceAll("[?;].*", "")
              + " cannot keep it: name a URL that begins with jdbc:tollgate:");
    }
    if (target.isTollgate() && !target.url().equals(lockDatabase.url())) {
      throw wrong("scripts for Tollgate are run under a lock of the same Tollgate");
    }
    return new MigrationSettings(
        folder,
        target,
        lockDatabase,
        null,
        DEFAULT_TABLE,
        Map.of(),
        null,
        false,
        DEFAULT_LEASE,
        DEFAULT_LOCK_WAIT);
  }

  /** A history in another table; letters, digits and underscores. */
  public MigrationSettings withTable(String other) throws MigrationException {
    if (!NAME.matcher(other).matches()) {
      throw wrong("'" + other + "' is no name of a table: write letters, digits and underscores");
    }
    return new MigrationSettings(
        folder,
        target,
        lockDatabase,
        lockName,
        other,
        placeholders,
        last,
        outOfOrder,
        lease,
        lockWait);
  }

  /** Another lock than the one that is named after schema and history table. */
  public MigrationSettings withLockName(String name) {
    return new MigrationSettings(
        folder, target, lockDatabase, name, table, placeholders, last, outOfOrder, lease, lockWait);
  }

  public MigrationSettings withPlaceholders(Map<String, String> values) {
    return new MigrationSettings(
        folder, target, lockDatabase, lockName, table, values, last, outOfOrder, lease, lockWait);
  }

  /** Nothing beyond a version is run, nor repeatable scripts. */
  public MigrationSettings upTo(Version version) {
    return new MigrationSettings(
        folder,
        target,
        lockDatabase,
        lockName,
        table,
        placeholders,
        version,
        outOfOrder,
        lease,
        lockWait);
  }

  /** Scripts with a lower version than the highest in the history are run too, not rejected. */
  public MigrationSettings outOfOrder() {
    return new MigrationSettings(
        folder, target, lockDatabase, lockName, table, placeholders, last, true, lease, lockWait);
  }

  /** How long the lock outlives the process, and how long to wait for another run. */
  public MigrationSettings withLock(Duration newLease, Duration newLockWait) {
    return new MigrationSettings(
        folder,
        target,
        lockDatabase,
        lockName,
        table,
        placeholders,
        last,
        outOfOrder,
        newLease,
        newLockWait);
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
