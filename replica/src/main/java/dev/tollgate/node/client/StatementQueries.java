package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.node.replica.Facts;
import dev.tollgate.store.SqlReader;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.store.h2.SqlValue;
import dev.tollgate.store.statement.LockAccess;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.SqlState;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Runs the queries of statements on this node's database. Knows how a query is cancelled, and how
 * many run. A query takes its time, so it runs on a worker. Thread-safe.
 */
final class StatementQueries {
  private final SqlReader reader;
  private final LockAccess views;
  private final Facts facts;
  private final AtomicInteger running = new AtomicInteger();

  /**
   * @param views the lock state for queries
   */
  StatementQueries(SqlReader reader, LockAccess views, Facts facts) {
    this.reader = requireNonNull(reader, "reader");
    this.views = requireNonNull(views, "views");
    this.facts = requireNonNull(facts, "facts");
  }

  /** How many queries run. */
  int running() {
    return running.get();
  }

  /** Runs a query and replies with its first rows. */
  void run(ReceivedStatement statement, String sql, byte[] parameterSet) throws SQLException {
    reply(statement, sql, query(statement, statement.losses(), sql, parameterSet));
  }

  /**
   * Does the same, unless the query needs the time of a transaction that has not begun. Then it
   * replies nothing.
   *
   * @return true if it has replied
   */
  boolean runUnlessTimed(ReceivedStatement statement, String sql, byte[] parameterSet)
      throws SQLException {
    Answered answered = query(statement, statement.losses(), sql, parameterSet);
    if (answered != null
        && answered.page().tookTime()
        && statement.scope() != TransactionScope.AUTOCOMMIT) {
      answered.page().close();
      return false;
    }
    reply(statement, sql, answered);
    return true;
  }

  /** Runs a query of the node itself, which ends no node, and replies with its first rows. */
  void runOwn(ReceivedStatement statement, String sql, byte[] parameterSet) throws SQLException {
    reply(statement, sql, query(statement, /* losses= */ 0, sql, parameterSet));
  }

  /** The first rows of a query, and the id with which the client asks for more. */
  private record Answered(SqlReader.Page page, long cursorId) {}

  private static void reply(ReceivedStatement statement, String sql, @Nullable Answered answered) {
    OpenResults results = statement.results();
    if (answered == null) {
      statement.reply(new Reply.Failure(SqlState.TOO_MANY, results.describeFull()));
    } else {
      results.keep(answered.cursorId(), sql, answered.page());
      statement.result(answered.page().body().bytes());
    }
  }

  /** Returns null if the client has too many results open. */
  private @Nullable Answered query(
      ReceivedStatement statement, int losses, String sql, byte[] parameterSet)
      throws SQLException {
    OpenResults results = statement.results();
    if (results.isFull()) {
      return null;
    }
    long cursorId = results.nextCursorId();
    SqlReader.Page page =
        cancellable(
            statement,
            losses,
            canceller ->
                reader.query(
                    transactionToRead(statement),
                    statement.session().settings(facts),
                    sql,
                    parameterSet,
                    statement.request().maxRows(),
                    statement.request().pageRows(),
                    cursorId,
                    views,
                    canceller));
    return new Answered(page, cursorId);
  }

  /**
   * Lets the database compute the arguments of a lock function.
   *
   * @throws SQLException with 08007 if they are not computed again for want of memory: the function
   *     may have taken effect before
   */
  List<SqlValue> computed(ReceivedStatement statement, String arguments, byte[] set)
      throws SQLException {
    try {
      return cancellable(
          statement,
          statement.losses(),
          canceller ->
              reader.evaluate(
                  transactionToRead(statement),
                  statement.session().settings(facts),
                  arguments,
                  set,
                  views,
                  canceller));
    } catch (SQLException e) {
      if (statement.losses() > 0 && SqlState.NO_MEMORY.state().equals(e.getSQLState())) {
        throw SqlErrors.exception(
            SqlState.OUTCOME_UNKNOWN,
            "whether the lock function took effect when it was sent before is not known: "
                + e.getMessage());
      }
      throw e;
    }
  }

  /** A query that may be cancelled. */
  private interface Query<T> {
    T run(SqlReader.Canceller canceller) throws SQLException;
  }

  /** Runs a query that ends if the client cancels it, or goes away. */
  private <T> T cancellable(ReceivedStatement statement, int losses, Query<T> query)
      throws SQLException {
    SqlReader.Canceller canceller = new SqlReader.Canceller(losses);
    running.incrementAndGet();
    statement.cancellation().interruptBy(canceller::cancel);
    statement.results().queryStarts(canceller);
    try {
      return query.run(canceller);
    } finally {
      statement.results().queryEnds(canceller);
      statement.cancellation().goesOn();
      running.decrementAndGet();
    }
  }

  /**
   * Returns the session if a query has to see the rows of its transaction, else null.
   *
   * @throws SQLException if the transaction has ended since the statement was sent: the query must
   *     not see the committed rows instead
   */
  private @Nullable SessionId transactionToRead(ReceivedStatement statement) throws SQLException {
    SessionId session = statement.session().id();
    if (facts.isInTransaction(session)) {
      return session;
    }
    if (statement.scope() != TransactionScope.AUTOCOMMIT) {
      Facts.SessionFacts state = facts.session(session);
      String lost =
          state == null
              ? "the session ended, and its transaction with it: run it again"
              : state.lostTransaction();
      if (lost != null) {
        throw SqlErrors.exception(SqlState.CONFLICT, lost);
      }
    }
    return null;
  }
}
