package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * One script or change set on its way through its statements, which the {@link StatementLedger}
 * counts. Say {@link #before} each statement, in their order and also for those that are done, send
 * the statement if the answer is true, and then say {@link #after} or {@link #failed}.
 *
 * <p>In a transaction of the tool, the count of a statement that changes rows commits when the tool
 * commits. In autocommit, the ledger makes a transaction of the statement and its count. A
 * definition commits the open transaction, and takes effect together with its own count (ADR 0140).
 */
public final class LedgerUnit {
  private final StatementLedger ledger;
  private final String key;
  private final StatementLedger.@Nullable Row begun;
  private final EarlierRun earlier;

  /** The last statement that this run has been told of. */
  private @Nullable SqlStatement statement;

  private final EarlierSession session;
  private boolean isRun;
  private boolean isOwnTransaction;

  private LedgerUnit(
      StatementLedger ledger, String key, StatementLedger.@Nullable Row begun, EarlierRun earlier) {
    this.ledger = ledger;
    this.key = key;
    this.begun = begun;
    this.earlier = earlier;
    this.session = new EarlierSession(key, "Run what is left by hand");
  }

  static LedgerUnit begin(StatementLedger ledger, String key) throws SQLException {
    StatementLedger.@Nullable Row begun = ledger.row(key).orElse(null);
    StatementProgress progress = begun == null ? StatementProgress.NONE : begun.progress();
    return new LedgerUnit(ledger, key, begun, new EarlierRun(progress));
  }

  /** How many statements an earlier run has done at least; 0 if none has begun the unit. */
  public int done() {
    return begun == null ? 0 : begun.progress().done();
  }

  /** True if an earlier run has done statements of the unit, or may have. */
  public boolean isUnderWay() {
    return begun != null && begun.progress().attempted() > 0;
  }

  /**
   * Counts the next statement.
   *
   * @return whether to send it: false if an earlier run has done it. Before the first that is to be
   *     sent, the session gets the settings and locks that the done ones had set and acquired.
   * @throws MigrationException with MISMATCH if statements that are done have changed, with
   *     UNKNOWN_OUTCOME if it cannot be known whether the earlier run has done this one, and with
   *     INPUT if the statement takes the transaction or the fence away from the tool
   */
  public boolean before(String sql) throws SQLException, MigrationException {
    return before(sql, sql);
  }

  /**
   * As {@link #before(String)}.
   *
   * @param written what is compared with the statements that are done: the text before placeholders
   *     have values
   */
  public boolean before(String sql, String written) throws SQLException, MigrationException {
    SqlStatement next = new SqlStatement(1, sql, written, Dialect.TOLLGATE);
    if (next.belongsToTheRunner()) {
      throw new MigrationException(
          MigrationException.Reason.INPUT,
          key
              + ": statement "
              + (earlier.number() + 1)
              + " begins or ends a transaction or fences the session, which the tool does itself;"
              + " remove it: "
              + sql);
    }
    statement = next;
    isRun =
        switch (earlier.next(next)) {
          case DONE -> false;
          case LEFT -> true;
          case CHANGED -> throw changed();
          case UNKNOWN -> throw unknown();
        };
    if (isRun) {
      session.check(next);
      session.restore(ledger.connection());
      beginStatement(next);
    } else {
      session.did(next);
    }
    return isRun;
  }

  private void beginStatement(SqlStatement next) throws SQLException {
    Connection connection = ledger.connection();
    if (next.mayBeDefinition()) {
      ledger.begun(key);
      ledger.update(key, progress()).goWith(connection, next.sql());
      return;
    }
    isOwnTransaction = connection.getAutoCommit();
    if (isOwnTransaction) {
      connection.setAutoCommit(false);
    }
  }

  /** With the last statement. */
  private StatementProgress progress() {
    return StatementProgress.done(earlier.number(), earlier.checksum());
  }

  /** Records that the statement has been done. */
  public void after() throws SQLException {
    SqlStatement last = requireNonNull(statement, "before() comes first");
    if (!isRun || (last.mayBeDefinition() && RowUpdate.wasSent(ledger.connection()))) {
      return;
    }
    ledger.write(key, progress());
    if (isOwnTransaction) {
      ledger.connection().commit();
    }
    endOwnTransaction();
  }

  /**
   * Rolls back, unless the connection is lost: the statement has changed nothing, and the ledger
   * does not count it. Where the tool has an open transaction, it is rolled back too.
   */
  public void failed(SQLException why) throws SQLException {
    if (!isRun || DatabaseErrors.isConnection(why)) {
      return;
    }
    Connection connection = ledger.connection();
    if (requireNonNull(statement, "before() comes first").mayBeDefinition()) {
      RowUpdate.forget(connection, why);
    }
    if (!connection.getAutoCommit()) {
      connection.rollback();
    }
    endOwnTransaction();
  }

  private void endOwnTransaction() throws SQLException {
    if (isOwnTransaction) {
      isOwnTransaction = false;
      ledger.connection().setAutoCommit(true);
    }
  }

  /**
   * Checks that the unit still has all statements that an earlier run has done, and removes it from
   * the ledger, as {@link StatementLedger#finished} does.
   */
  public void finish() throws SQLException, MigrationException {
    switch (earlier.end()) {
      case CHANGED -> throw changed();
      case UNKNOWN -> throw unknown();
      default -> ledger.finished(key);
    }
  }

  private MigrationException changed() {
    return new MigrationException(
        MigrationException.Reason.MISMATCH,
        key
            + ": the first "
            + requireNonNull(begun).progress().attempted()
            + " statements were done by an earlier run and have changed since: restore their text,"
            + " and add further changes behind them");
  }

  private MigrationException unknown() {
    StatementLedger.Row row = requireNonNull(begun);
    return new MigrationException(
        MigrationException.Reason.UNKNOWN_OUTCOME,
        key
            + ": the run under token "
            + row.token()
            + " on host "
            + row.host()
            + " ended at statement "
            + row.progress().attempted()
            + ", and it cannot be known whether that statement took effect. Look at the database."
            + " If it did, say so with\n"
            + ledger.advice(key)
            + "and run again");
  }
}
