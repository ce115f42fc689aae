package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One script on its way through its statements (ADR 0058). Before each statement the history says,
 * in the transaction of the statement, which statement that is. On Tollgate, a definition takes
 * effect together with the mark that says so (ADR 0140). Where else a definition commits the
 * transaction, nobody knows whether it ran if the run ends before the history has the mark.
 */
final class ScriptRun {
  private static final int STATEMENT_CHARACTERS = 500;

  private static final String NEW_SESSION =
      "Add what the rest needs behind the statements that are done, then say that the rest needs no"
          + " more, by the line '-- tollgate: session=new' in the script, and run again";

  private final Script script;
  private final Target target;
  private final History history;
  private final MigrationLock lock;
  private final Progress progress;
  private final @Nullable HistoryRow begun;
  private final long[] checksums;
  private final long startNanos = System.nanoTime();

  /** The row of the history, or 0 before there is one. */
  private int rank;

  /** How many statements have taken effect, in what is committed or in the open transaction. */
  private int done;

  ScriptRun(Plan.Step step, Target target, History history, MigrationLock lock, Progress progress) {
    this.script = requireNonNull(step.script(), "script");
    this.begun = step.begun();
    this.checksums = StatementChecksum.ofEach(script.statements());
    this.target = requireNonNull(target, "target");
    this.history = requireNonNull(history, "history");
    this.lock = requireNonNull(lock, "lock");
    this.progress = requireNonNull(progress, "progress");
  }

  /** Runs what is left of the script. */
  void run() throws MigrationException {
    try {
      done = begun == null ? 0 : doneBefore(begun);
      restoreSession();
      begin();
      while (done < script.statements().size()) {
        runNext();
      }
      target.begin();
      history.finish(rank, progress(done), took());
      target.commit();
      progress.scriptDone(script, took());
    } catch (SQLException e) {
      throw refused(e);
    }
  }

  /** The session of the earlier run has ended, and with it its settings and its locks. */
  private void restoreSession() throws SQLException, MigrationException {
    EarlierSession earlier = new EarlierSession(script.path(), NEW_SESSION);
    for (SqlStatement statement : script.statements().subList(0, done)) {
      earlier.did(statement);
    }
    if (!script.inNewSession()) {
      for (SqlStatement statement : script.statements().subList(done, script.statements().size())) {
        earlier.check(statement);
      }
    }
    earlier.restore(target.connection());
  }

  private void begin() throws SQLException, MigrationException {
    progress.scriptBegins(script, done);
    target.begin();
    if (begun == null) {
      rank = history.begin(script, lock.token());
    } else {
      rank = begun.rank();
      history.resume(rank, script, progress(done), lock.token());
    }
    target.commit();
  }

  private Duration took() {
    return Duration.ofNanos(System.nanoTime() - startNanos);
  }

  /** How many statements earlier runs have done, also if the last of them died at its work. */
  private int doneBefore(HistoryRow row) throws SQLException, MigrationException {
    EarlierRun earlier = new EarlierRun(row.progress());
    int doneBefore = 0;
    for (SqlStatement statement : script.statements()) {
      switch (earlier.next(statement)) {
        case DONE -> doneBefore++;
        case LEFT -> {
          return doneBefore;
        }
        case CHANGED -> throw changed(row, earlier.number());
        case UNKNOWN -> throw unknown(row);
      }
    }
    switch (earlier.end()) {
      case CHANGED -> throw changed(row, earlier.number() + 1);
      case UNKNOWN -> throw unknown(row);
      default -> {
        return doneBefore;
      }
    }
  }

  private MigrationException changed(HistoryRow row, int count) {
    return new MigrationException(
        MigrationException.Reason.MISMATCH,
        script.path()
            + ": the first "
            + count
            + " of "
            + row.statements()
            + " statements were done by an earlier run and have changed since: restore their"
            + " text, and add further changes behind them");
  }

  private MigrationException unknown(HistoryRow row) {
    int number = row.progress().attempted();
    return new MigrationException(
        MigrationException.Reason.UNKNOWN_OUTCOME,
        script.path()
            + ": the run under token "
            + row.token()
            + " on host "
            + row.host()
            + " ended at statement "
            + number
            + " of "
            + row.statements()
            + lineOf(number)
            + ", and it cannot be known whether that statement took effect. Look at the database,"
            + " and then say so with repair: that the statement is done, or that it is not");
  }

  private String lineOf(int number) {
    return number <= script.statements().size()
        ? " in line " + script.statements().get(number - 1).line()
        : "";
  }

  private void runNext() throws SQLException, MigrationException {
    SqlStatement statement = script.statements().get(done);
    if (target.marksDefinitions() && statement.mayBeDefinition()) {
      runMarked(statement);
    } else {
      runInTransaction(statement);
    }
  }

  /** The definition takes effect together with the mark that says so, whatever it waits for. */
  private void runMarked(SqlStatement statement) throws SQLException, MigrationException {
    int number = done + 1;
    target.begin();
    long start = statementBegins(number);
    try {
      target.define(statement.sql(), history.progressUpdate(rank, progress(number)));
    } catch (SQLException e) {
      throw failed(statement, e);
    }
    done = number;
    statementDone(start);
  }

  private void runInTransaction(SqlStatement statement) throws SQLException, MigrationException {
    int number = done + 1;
    boolean commits = target.definitionsCommit() && statement.mayBeDefinition();
    target.begin();
    history.mark(rank, isInOneTransaction(commits) ? progress(number) : attempt(number));
    if (!script.inTransaction()) {
      target.leaveTransaction();
    } else if (commits) {
      target.beforeCommitting(statement.effect() == SqlStatement.Effect.OPAQUE);
    }
    long start = statementBegins(number);
    try {
      target.execute(statement.sql());
    } catch (SQLException e) {
      throw failed(statement, e);
    }
    done = number;
    if (commits) {
      target.afterCommitting();
    }
    if (commits || !script.inTransaction()) {
      target.begin();
      history.mark(rank, progress(done));
      target.commit();
    }
    statementDone(start);
  }

  /** True if the mark commits with the statement, or is rolled back with it. */
  private boolean isInOneTransaction(boolean commits) {
    return target.marksDefinitions() || (script.inTransaction() && !commits);
  }

  /** The statement before this one is done, and nobody knows what becomes of this one. */
  private StatementProgress attempt(int number) {
    return new StatementProgress(done, checksums[done], number, checksums[number]);
  }

  private long statementBegins(int number) {
    progress.statementBegins(script, number);
    return System.nanoTime();
  }

  private void statementDone(long startNanos) {
    progress.statementDone(script, done, Duration.ofNanos(System.nanoTime() - startNanos));
  }

  private StatementProgress progress(int count) {
    return StatementProgress.done(count, checksums[count]);
  }

  private MigrationException failed(SqlStatement statement, SQLException why)
      throws MigrationException {
    String what = place() + " failed: " + DatabaseErrors.describe(why);
    try {
      target.rollback();
      requireLock(why);
      if (DatabaseErrors.isConnection(why)) {
        throw interrupted(why);
      }
      StatementProgress stands = recordFailure(what, statement);
      return new MigrationException(
          MigrationException.Reason.STATEMENT,
          what + "\n  " + shortened(statement.sql()) + "\n" + whatIsKept(stands),
          why);
    } catch (SQLException e) {
      e.addSuppressed(why);
      throw refused(e);
    }
  }

  /** The history could not be written, or what it says not committed. */
  private MigrationException refused(SQLException why) throws MigrationException {
    requireLock(why);
    return DatabaseErrors.isConnection(why)
        ? interrupted(why)
        : DatabaseErrors.failure(place() + ": the history was not written", why);
  }

  private void requireLock(SQLException why) throws MigrationException {
    try {
      lock.assertHeld();
    } catch (MigrationException lost) {
      MigrationException here =
          new MigrationException(
              lost.reason(), place() + " was refused: " + lost.getMessage(), why);
      here.addSuppressed(lost);
      throw here;
    }
  }

  /** The statement that is next, or under way. */
  private String place() {
    List<SqlStatement> statements = script.statements();
    return done == statements.size()
        ? script.path() + ": the end"
        : script.path()
            + ":"
            + statements.get(done).line()
            + ": statement "
            + (done + 1)
            + " of "
            + statements.size();
  }

  /**
   * Returns what stands: a definition had committed what was before it. A statement that may commit
   * at any point may have done half of its work.
   */
  private StatementProgress recordFailure(String what, SqlStatement statement)
      throws SQLException, MigrationException {
    target.begin();
    StatementProgress stands = history.row(rank).progress();
    if (statement.effect() != SqlStatement.Effect.OPAQUE) {
      stands = progress(stands.done());
    }
    history.fail(rank, stands, took(), what);
    target.commit();
    return stands;
  }

  private static String whatIsKept(StatementProgress stands) {
    if (stands.hasUnknownStatement()) {
      return "It may have taken effect in part. Look at the database, say so with repair, that the"
          + " statement is done or that it is not, and run again";
    }
    int kept = stands.done();
    return (kept == 0
            ? "Nothing of the script has taken effect"
            : kept == 1
                ? "The first statement has taken effect and stays"
                : "The first " + kept + " statements have taken effect and stay")
        + ": correct the failed one and run again";
  }

  private MigrationException interrupted(SQLException why) {
    return new MigrationException(
        MigrationException.Reason.UNREACHABLE,
        place()
            + ": the connection was lost: "
            + DatabaseErrors.describe(why)
            + "\nRun again: the history knows which statements are done",
        why);
  }

  private static String shortened(String sql) {
    return sql.length() <= STATEMENT_CHARACTERS
        ? sql
        : sql.substring(0, STATEMENT_CHARACTERS) + "...";
  }
}
