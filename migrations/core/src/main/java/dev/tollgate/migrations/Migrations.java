package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Runs the scripts of a folder once each, and says how they stand.
 *
 * <p>Each call opens its connections and closes them. The calls that change something take the lock
 * first. Not thread-safe; several processes may call at the same time.
 */
public final class Migrations {
  /** A run is silent for as long as it takes to send the next statement. */
  private static final int PAUSE_LEASES = 4;

  private final MigrationSettings settings;
  private final Progress progress;

  public Migrations(MigrationSettings settings, Progress progress) {
    this.settings = requireNonNull(settings, "settings");
    this.progress = requireNonNull(progress, "progress");
  }

  /**
   * Runs all scripts that are left, under the lock, each in a session of its own.
   *
   * @return how many scripts were run to their end
   */
  public int migrate() throws MigrationException {
    List<Script> scripts = scripts();
    return locked(
        lock -> {
          List<Plan.Step> steps = prepare(scripts, lock);
          for (Plan.Step step : steps) {
            try (Opened opened = open(lock)) {
              new ScriptRun(step, opened.target(), opened.history(), lock, progress).run();
            }
          }
          return steps.size();
        });
  }

  private List<Plan.Step> prepare(List<Script> scripts, MigrationLock lock)
      throws SQLException, MigrationException {
    try (Opened opened = open(lock)) {
      opened.prepare();
      Plan plan = plan(scripts, opened.history().rows());
      plan.validate();
      return plan.steps();
    }
  }

  /** What {@link #migrate} would run now, in order; changes nothing and takes no lock. */
  public List<Script> pending() throws MigrationException {
    Plan plan = planWithoutLock();
    plan.validate();
    return plan.steps().stream().map(Plan.Step::script).toList();
  }

  /** The history, and the scripts that are not in it; changes nothing and takes no lock. */
  public List<ScriptState> info() throws MigrationException {
    return planWithoutLock().states();
  }

  /** Fails if scripts that were run have changed or are missing; takes no lock. */
  public void validate() throws MigrationException {
    planWithoutLock().validate();
  }

  /**
   * Makes the history agree with the files: removes rows of scripts of which nothing was done, and
   * accepts changed and missing files.
   *
   * @param lastStatementDone what became of a statement whose outcome the history does not know;
   *     empty to leave such a script as it is
   * @return a sentence for each row that was changed
   */
  public List<String> repair(Optional<Boolean> lastStatementDone) throws MigrationException {
    List<Script> scripts = scripts();
    return locked(
        lock -> {
          try (Opened opened = open(lock)) {
            opened.prepare();
            History history = opened.history();
            List<String> changes = new ArrayList<>();
            opened.target().begin();
            for (Plan.Repair repair : plan(scripts, history.rows()).repairs()) {
              repair(history, repair, lastStatementDone).ifPresent(changes::add);
            }
            opened.target().commit();
            return changes;
          }
        });
  }

  private static Optional<String> repair(
      History history, Plan.Repair repair, Optional<Boolean> lastStatementDone)
      throws SQLException {
    HistoryRow row = repair.row();
    switch (repair.kind()) {
      case REMOVE -> {
        history.remove(row.rank());
        return Optional.of(row.script() + ": row removed, nothing of the script was done");
      }
      case ACCEPT -> {
        history.setChecksum(row.rank(), repair.checksum());
        return Optional.of(
            row.script()
                + (repair.checksum() == null
                    ? ": the file need not be there any more"
                    : ": the file is accepted as it is, with checksum " + repair.checksum()));
      }
      case SETTLE -> {
        if (lastStatementDone.isEmpty()) {
          return Optional.empty();
        }
        history.settle(row, lastStatementDone.get());
        return Optional.of(
            row.script()
                + ": statement "
                + row.progress().attempted()
                + (lastStatementDone.get() ? " counts as done" : " will be run again"));
      }
    }
    throw new IllegalStateException("kind: " + repair.kind());
  }

  private List<Script> scripts() throws MigrationException {
    List<Script> scripts =
        ScriptFolder.read(
            settings.folder(), settings.placeholders(), Dialect.of(settings.target().url()));
    if (scripts.isEmpty() && !settings.mayBeEmpty()) {
      throw new MigrationException(
          MigrationException.Reason.INPUT,
          settings.folder()
              + " has no scripts, such as V1__city.sql: name another folder, or say that it may be"
              + " empty");
    }
    return scripts;
  }

  private Plan plan(List<Script> scripts, List<HistoryRow> rows) {
    @Nullable Version last = settings.last().orElse(null);
    return new Plan(scripts, rows, settings.isOutOfOrder(), last);
  }

  private Plan planWithoutLock() throws MigrationException {
    List<Script> scripts = scripts();
    try (Connection connection = settings.target().connect(Map.of())) {
      History history = History.of(connection, settings.table());
      return plan(scripts, history.exists() ? history.rows() : List.of());
    } catch (SQLException e) {
      throw DatabaseErrors.failure("the history was not read", e);
    }
  }

  /** What is done while the lock is held. */
  private interface Work<R> {
    R under(MigrationLock lock) throws SQLException, MigrationException;
  }

  private <R> R locked(Work<R> work) throws MigrationException {
    String name = lockName();
    try (MigrationLock lock =
        MigrationLock.acquire(
            settings.lockDatabase(), name, settings.lease(), settings.lockWait())) {
      progress.lockTaken(name, lock.token());
      try {
        return work.under(lock);
      } catch (SQLException e) {
        MigrationException failure = DatabaseErrors.failure("the history was not written", e);
        try {
          lock.assertHeld();
        } catch (MigrationException lost) {
          lost.addSuppressed(failure);
          throw lost;
        }
        throw failure;
      }
    }
  }

  private String lockName() throws MigrationException {
    if (settings.lockName().isPresent()) {
      return settings.lockName().get();
    }
    try (Connection connection = settings.target().connect(Map.of())) {
      return "migrations:" + History.of(connection, settings.table()).path();
    } catch (SQLException e) {
      throw DatabaseErrors.failure("no connection to the database", e);
    }
  }

  /** A session of its own for a script, which the lock fences, and the history on it. */
  private record Opened(Target target, History history) implements AutoCloseable {
    void prepare() throws SQLException, MigrationException {
      target.prepare();
      history.create(target.tableClause());
    }

    @Override
    public void close() {
      target.close();
    }
  }

  private Opened open(MigrationLock lock) throws SQLException, MigrationException {
    Database database = settings.target();
    Connection connection =
        database.connect(
            database.isTollgate() ? FencedSession.properties(settings.lease()) : Map.of());
    try {
      History history = History.of(connection, settings.table());
      Target target = Target.of(connection, lock);
      target.boundPauses(settings.lease().multipliedBy(PAUSE_LEASES));
      return new Opened(target, history);
    } catch (SQLException e) {
      try (connection) {
        throw e;
      }
    }
  }
}
