package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.node.replica.Facts;
import dev.tollgate.store.SqlReader;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.store.h2.SqlValue;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.SqlState;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The way of a statement that reads this node's state. */
final class StatementQuery {
  private final ReceivedStatement statement;
  private final ClientService service;
  private final StatementProposal proposal;

  StatementQuery(ReceivedStatement statement, StatementProposal proposal) {
    this.statement = requireNonNull(statement, "statement");
    service = statement.service();
    this.proposal = requireNonNull(proposal, "proposal");
  }

  /** Runs the work once the session's queries may see this node's state. */
  void withReadAccess(Runnable work) {
    ReadConsistency consistency = statement.session().options().readConsistency();
    boolean inTransaction = statement.scope() != TransactionScope.AUTOCOMMIT;
    statement
        .runner()
        .withState(
            consistency == ReadConsistency.ANY && inTransaction
                ? ReadConsistency.LEADER
                : consistency,
            statement.answer(),
            work);
  }

  /**
   * Ensures that a serializable transaction is alone before it reads, and that the client learns of
   * the end of its transaction before it goes on.
   */
  void inTransaction(Runnable work) {
    TransactionScope mode = statement.scope();
    if (mode == TransactionScope.AUTOCOMMIT) {
      work.run();
      return;
    }
    Facts.SessionFacts state = statement.facts();
    boolean begun = state != null && state.inTransaction();
    String lost = state == null ? null : state.lostTransaction();
    if (lost != null) {
      statement.reply(new Reply.Failure(SqlState.CONFLICT, lost));
    } else if (mode == TransactionScope.SERIALIZABLE && !begun) {
      proposal.propose(
          new Operation.BeginTransaction(mode),
          outcome -> {
            if (outcome instanceof Outcome.Done) {
              work.run();
              return null;
            }
            return Replies.of(outcome);
          });
    } else {
      if (begun) {
        service.timeKeeper().noteUse(statement.session().id());
      }
      work.run();
    }
  }

  /** Runs a query and replies with its first rows. */
  void run(String sql, byte[] parameterSet) throws SQLException {
    if (!statement.runner().mayOpenCursor()) {
      statement.reply(
          new Reply.Failure(
              SqlState.TOO_MANY,
              "the connection has "
                  + QueryRunner.maxCursors()
                  + " results open: close those that are not needed"));
      return;
    }
    long cursorId = statement.runner().nextCursorId();
    SqlReader.Page page =
        cancellable(
            canceller ->
                service
                    .reader()
                    .query(
                        transactionToRead(),
                        statement.runner().settingsOf(statement.session()),
                        sql,
                        parameterSet,
                        statement.request().maxRows(),
                        statement.request().pageRows(),
                        cursorId,
                        service.views(),
                        canceller));
    statement.runner().keep(cursorId, page);
    statement.result(page.body().bytes());
  }

  /** Lets the database compute the arguments of a lock function. */
  List<SqlValue> computed(String arguments, byte[] set) throws SQLException {
    return cancellable(
        canceller ->
            service
                .reader()
                .evaluate(
                    transactionToRead(),
                    statement.runner().settingsOf(statement.session()),
                    arguments,
                    set,
                    service.views(),
                    canceller));
  }

  /** A query that may be cancelled. */
  private interface Query<T> {
    T run(SqlReader.Canceller canceller) throws SQLException;
  }

  /** Runs a query that ends if the client cancels it, or goes away. */
  private <T> T cancellable(Query<T> query) throws SQLException {
    SqlReader.Canceller canceller = new SqlReader.Canceller();
    service.queryStarts(statement.session().id(), canceller);
    statement.runner().queryStarts(canceller);
    try {
      return query.run(canceller);
    } finally {
      statement.runner().queryEnds(canceller);
      service.queryEnds(statement.session().id(), canceller);
    }
  }

  /**
   * Returns the session if a query has to see the rows of its transaction, else null.
   *
   * @throws SQLException if the transaction has ended since the statement was sent: the query must
   *     not see the committed rows instead
   */
  private @Nullable SessionId transactionToRead() throws SQLException {
    SessionId open = statement.transaction();
    if (open == null && statement.scope() != TransactionScope.AUTOCOMMIT) {
      Facts.SessionFacts state = statement.facts();
      String lost =
          state == null
              ? "the session ended, and its transaction with it: run it again"
              : state.lostTransaction();
      if (lost != null) {
        throw SqlErrors.exception(SqlState.CONFLICT, lost);
      }
    }
    return open;
  }
}
