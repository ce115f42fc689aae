package dev.tollgate.core;

import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.PresentedToken;
import dev.tollgate.core.command.RefusalCode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Has the store carry out a statement, as far as the rows of open transactions allow. */
final class StatementExecutor {
  private final SqlStore store;
  private final SessionTable sessions;
  private final StatementLocks locks;
  private final Rights rights;
  private final EventRecorder audit;
  private final SqlWrite.Factory writes;

  StatementExecutor(
      SqlStore store,
      SessionTable sessions,
      StatementLocks locks,
      Rights rights,
      SqlWrite.Factory writes,
      EventRecorder audit) {
    this.store = store;
    this.sessions = sessions;
    this.locks = locks;
    this.audit = audit;
    this.rights = rights;
    this.writes = writes;
  }

  /**
   * Continues a statement; afterwards the statement has an outcome or a blocker.
   *
   * @return how long the statement itself says that it waits, or null
   */
  @Nullable Long goOn(PendingStatement statement) {
    Session session = statement.session();
    Transaction transaction = session.transaction();
    Operation operation = statement.operation();
    if (operation instanceof Operation.Executions executions) {
      return execute(statement, executions, transaction);
    }
    if (operation instanceof Operation.AcquireTransactionLock acquire && transaction != null) {
      acquire(statement, acquire, transaction);
      return null;
    }
    Outcome outcome =
        operation instanceof Operation.FenceTable || operation instanceof Operation.UnfenceTable
            ? define(session, operation)
            : operation instanceof Operation.MarkSavepoint savepoint
                ? store.savepoint(session.id(), savepoint)
                : new Outcome.Done();
    if (outcome instanceof Outcome.Conflict conflict) {
      waitForHolder(statement, conflict);
    } else {
      statement.finish(outcome);
    }
    return null;
  }

  /**
   * Runs the marks of a definition, and then the definition; afterwards the statement has an
   * outcome or a blocker.
   *
   * @param transaction of the marks alone
   * @return true if all succeeded. Otherwise the marks are to be rolled back; the definition has
   *     changed nothing
   */
  boolean defineMarked(
      PendingStatement statement, Operation.DefineMarked marked, Transaction transaction) {
    List<Outcome> outcomes = new ArrayList<>();
    Session session = statement.session();
    SqlWrite write = writes.of(session, transaction, marked.marks().get(0).ownLeaseTrusted());
    for (Operation.ExecuteSql mark : marked.marks()) {
      Outcome outcome = store.execute(mark, 0, write);
      if (outcome instanceof Outcome.Conflict conflict) {
        waitForHolder(statement, conflict);
        return false;
      }
      outcomes.add(outcome);
      if (!(outcome instanceof Outcome.Executed)) {
        statement.finish(new Outcome.Batch(outcomes));
        return false;
      }
      write.nextAttempt();
    }
    Outcome outcome = define(session, marked.definition());
    if (outcome instanceof Outcome.Conflict conflict) {
      if (!conflict.with().equals(session.id())) {
        waitForHolder(statement, conflict);
        return false;
      }
      outcome = ofItsOwnMark();
    }
    outcomes.add(outcome);
    boolean done = !(outcome instanceof Outcome.Refused || outcome instanceof Outcome.SqlFailed);
    if (done) {
      outcomes.add(new Outcome.Done());
    }
    statement.finish(new Outcome.Batch(outcomes));
    return done;
  }

  private Outcome define(Session session, Operation definition) {
    if (definition instanceof Operation.FenceTable fence) {
      return store.fenceTable(fence, writes.of(session, null, fence.ownLeaseTrusted()));
    }
    if (definition instanceof Operation.UnfenceTable unfence) {
      return store.unfenceTable(unfence, writes.of(session, null, unfence.ownLeaseTrusted()));
    }
    if (definition instanceof Operation.ExecuteSql sql) {
      Outcome outcome = store.execute(sql, 0, writes.of(session, null, sql.ownLeaseTrusted()));
      if (!(outcome instanceof Outcome.Conflict)) {
        defined(session, sql, outcome);
      }
      return outcome;
    }
    return writes.of(session, null, /* ownLeaseTrusted= */ true).perform(definition);
  }

  private void defined(Session session, Operation.ExecuteSql definition, Outcome outcome) {
    rights.definitionsChanged();
    audit.defined(session, definition.sql(), outcome);
  }

  private static Outcome ofItsOwnMark() {
    return new Outcome.SqlFailed(
        "HYC00",
        50100,
        "the definition changes the table that its mark is written to, so both cannot take effect"
            + " together: send the definition by itself");
  }

  private void acquire(
      PendingStatement statement,
      Operation.AcquireTransactionLock operation,
      Transaction transaction) {
    Outcome outcome = locks.acquire(statement, operation, transaction);
    if (outcome instanceof Outcome.Waiting) {
      statement.waitFor(new PendingStatement.Blocker.LockTurn(operation.lock()));
    } else {
      statement.finish(outcome);
    }
  }

  private void waitForHolder(PendingStatement statement, Outcome.Conflict conflict) {
    Transaction holder = sessions.existing(conflict.with()).transaction();
    if (holder == null || holder == statement.session().transaction()) {
      throw new IllegalStateException("conflict with session " + conflict.with());
    }
    statement.waitFor(new PendingStatement.Blocker.Holder(holder.id(), conflict.row()));
  }

  private @Nullable Long execute(
      PendingStatement statement,
      Operation.Executions executions,
      @Nullable Transaction transaction) {
    boolean series = executions instanceof Operation.ExecuteSeries;
    boolean trusted = executions.statement(0).ownLeaseTrusted();
    SqlWrite write = writes.of(statement.session(), transaction, trusted);
    for (boolean first = true; statement.hasNext(executions); first = false) {
      Operation.ExecuteSql sql = executions.statement(statement.executions());
      int set = executions.parameterSet(statement.executions());
      if (statement.isFull()) {
        statement.executed(batchTooLarge());
        continue;
      }
      if (transaction != null) {
        if (transaction.statements() >= Limits.STATEMENTS_PER_TRANSACTION) {
          statement.finish(tooLong());
          return null;
        }
        transaction.countStatement();
      }
      LockName lockedBy = sql.parameterSets().get(set).lockedBy();
      Outcome notHeld = lockedBy == null ? null : takeLock(statement, lockedBy, sql, write);
      if (notHeld instanceof Outcome.Waiting) {
        return null;
      }
      if (notHeld != null) {
        statement.executed(notHeld);
        continue;
      }
      if (series && !first) {
        // another statement, which draws its own random numbers
        write.nextAttempt();
      }
      write.begin();
      Outcome outcome = write.withCalls(store.execute(sql, set, write));
      locks.giveBack(statement);
      if (outcome instanceof Outcome.Conflict conflict) {
        waitForHolder(statement, conflict);
        return conflict.waitMillis();
      }
      if (sql.definition()) {
        defined(statement.session(), sql, outcome);
      }
      statement.executed(outcome);
    }
    List<Outcome> done = statement.done();
    statement.finish(executions.batch() ? new Outcome.Batch(done) : done.get(0));
    return null;
  }

  /**
   * Takes the lock of a LOCKED BY statement for the next execution.
   *
   * @return null if the execution may run, {@link Outcome.Waiting} if the statement waits now, else
   *     the outcome of the execution
   */
  private @Nullable Outcome takeLock(
      PendingStatement statement, LockName lock, Operation.ExecuteSql sql, SqlWrite write) {
    Outcome turn = locks.take(statement, lock, sql.ownLeaseTrusted());
    if (turn instanceof Outcome.Waiting) {
      statement.waitFor(new PendingStatement.Blocker.LockTurn(lock));
    }
    if (turn instanceof Outcome.Granted granted) {
      write.lockUnder(new PresentedToken(lock, granted.token().value()));
      return null;
    }
    return turn instanceof Outcome.NotGranted ? notFree(lock) : turn;
  }

  private static Outcome notFree(LockName lock) {
    return new Outcome.SqlFailed(
        "HYT00",
        50200,
        "Timeout trying to lock: lock '" + lock + "' is not free, SET LOCK_TIMEOUT lets it wait");
  }

  private static Outcome.Refused batchTooLarge() {
    return new Outcome.Refused(
        RefusalCode.LIMIT_REACHED,
        "the set was not run, because the results of those before it have more than "
            + Limits.BATCH_RESULT_BYTES
            + " bytes: send fewer sets in a batch, or ask for fewer generated keys");
  }

  private static Outcome.Refused tooLong() {
    return new Outcome.Refused(
        RefusalCode.LIMIT_REACHED,
        "the transaction has carried out "
            + Limits.STATEMENTS_PER_TRANSACTION
            + " statements, and no more can be: commit more often");
  }
}
