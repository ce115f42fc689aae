package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.log.MembershipException;
import dev.tollgate.log.NotLeadingException;
import dev.tollgate.log.SnapshotUnavailableException;
import dev.tollgate.sql.Plan;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.store.h2.SqlValue;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.SqlState;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * One statement on its way: from its plan to the log or to a query, and back to the client. Each
 * plan ends in exactly one reply.
 */
final class StatementExecution implements Plan.Handler<Void> {
  /** What SET TIME ZONE may say, besides LOCAL. */
  private static final Set<String> UTC =
      Set.of("UTC", "GMT", "Z", "+00", "+00:00", "UTC+00", "UTC+00:00", "ETC/UTC");

  private final ReceivedStatement statement;
  private final StatementProposal proposal;
  private final StatementQuery query;

  StatementExecution(ReceivedStatement statement) {
    this.statement = requireNonNull(statement, "statement");
    proposal = new StatementProposal(statement);
    query = new StatementQuery(statement, proposal);
  }

  void run(Plan plan) {
    plan.handledBy(this);
  }

  @Override
  public Void read(Plan.Read plan) {
    statement.attempt(
        () -> {
          byte[] set =
              Parameters.first(
                  statement.onlySet(), plan.sqlParameterCount(), plan.parameterCount());
          query.withReadAccess(
              () ->
                  query.inTransaction(
                      () ->
                          statement
                              .runner()
                              .onWorker(statement.answer(), () -> query.run(plan.sql(), set))));
        });
    return null;
  }

  @Override
  public Void lockCall(Plan.LockCall plan) {
    new LockCall(statement, proposal, query).run(plan);
    return null;
  }

  @Override
  public Void write(Plan.Write plan) {
    statement.attempt(
        () -> {
          statement.service().memory().requireRoomFor(plan.sql());
          proposal.propose(Operations.write(plan, statement.request()), Replies::of);
        });
    return null;
  }

  @Override
  public Void fenceTable(Plan.FenceTable plan) {
    statement.attempt(
        () -> proposal.propose(Operations.fenceTable(plan, statement.request()), Replies::of));
    return null;
  }

  @Override
  public Void unfenceTable(Plan.UnfenceTable plan) {
    proposal.propose(Operations.unfenceTable(plan, statement.request()), Replies::of);
    return null;
  }

  @Override
  public Void presentToken(Plan.PresentToken plan) {
    statement.attempt(
        () -> {
          List<SqlValue> parameters = Parameters.decode(statement.onlySet(), plan.parameterCount());
          proposal.propose(
              Operations.presentToken(plan.lock(), plan.token(), parameters), Replies::of);
        });
    return null;
  }

  @Override
  public Void fenceSession(Plan.FenceSession plan) {
    statement.attempt(
        () -> {
          List<SqlValue> parameters = Parameters.decode(statement.onlySet(), plan.parameterCount());
          proposal.propose(Operations.fenceSession(plan.fence(), parameters), Replies::of);
        });
    return null;
  }

  @Override
  public Void setSession(Plan.SetSession plan) {
    statement.attempt(
        () -> {
          List<SqlValue> parameters = Parameters.decode(statement.onlySet(), plan.parameterCount());
          String text = PlanArguments.value(plan.value(), parameters).textOrNull();
          switch (plan.setting()) {
            case SCHEMA ->
                proposal.propose(
                    new Operation.SetSchema(PlanArguments.schemaName(plan.value(), parameters)),
                    Replies::of);
            case LOCK_TIMEOUT ->
                proposal.propose(PlanArguments.lockTimeout(plan.value(), parameters), Replies::of);
            // the driver enforces the query timeout
            case QUERY_TIMEOUT -> statement.reply(Replies.updated(0));
            case AUTOCOMMIT ->
                acceptOnly(
                    "true".equals(text) == (statement.scope() == TransactionScope.AUTOCOMMIT),
                    "autocommit belongs to the connection: call Connection.setAutoCommit");
            case ISOLATION ->
                acceptOnly(
                    "READ COMMITTED".equals(text),
                    "the isolation level belongs to the connection: call"
                        + " Connection.setTransactionIsolation");
            case TIME_ZONE ->
                acceptOnly(
                    text == null || UTC.contains(text.toUpperCase(Locale.ROOT)),
                    "the database counts in UTC: send times with their zone, TIMESTAMP WITH TIME"
                        + " ZONE, or convert them with AT TIME ZONE");
          }
        });
    return null;
  }

  @Override
  public Void administer(Plan.Administer plan) {
    statement.attempt(
        () -> {
          List<SqlValue> parameters = Parameters.decode(statement.onlySet(), plan.parameterCount());
          List<SqlValue> arguments = PlanArguments.values(plan.arguments(), parameters);
          statement
              .runner()
              .onWorker(Workers.Kind.FILES, statement.answer(), () -> administer(plan, arguments));
        });
    return null;
  }

  private void administer(Plan.Administer plan, List<SqlValue> arguments) throws SQLException {
    statement
        .service()
        .administration()
        .run(plan.procedure(), arguments)
        .thenRun(
            () ->
                statement
                    .runner()
                    .onWorker(
                        statement.answer(),
                        () ->
                            query.run(
                                plan.procedure().resultSql(), SqlValue.encodeFirst(List.of(), 0))))
        .exceptionally(failure -> notAdministered(plan, failure));
  }

  private @Nullable Void notAdministered(Plan.Administer plan, Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    if (cause instanceof NotLeadingException) {
      statement.reply(statement.notLeader());
    } else if (cause instanceof MembershipException refused) {
      statement.reply(
          new Reply.Failure(SqlState.ADMINISTRATION, requireNonNull(refused.getMessage())));
    } else if (cause instanceof SnapshotUnavailableException unavailable) {
      statement.reply(Replies.of(unavailable));
    } else {
      statement
          .runner()
          .onWorker(
              statement.answer(),
              () -> {
                throw new IllegalStateException(plan.procedure() + " failed", cause);
              });
    }
    return null;
  }

  @Override
  public Void nothing(Plan.Nothing plan) {
    statement.reply(Replies.updated(0));
    return null;
  }

  private void acceptOnly(boolean accepted, String otherwise) {
    statement.reply(accepted ? Replies.updated(0) : Replies.notSupported(otherwise));
  }

  @Override
  public Void transaction(Plan.Transaction plan) {
    TransactionScope mode = statement.scope();
    switch (plan.kind()) {
      case COMMIT -> proposal.propose(new Operation.EndTransaction(true), Replies::of);
      case ROLLBACK -> proposal.propose(new Operation.EndTransaction(false), Replies::of);
      case BEGIN ->
          acceptOnly(
              mode != TransactionScope.AUTOCOMMIT,
              "a transaction begins by itself once autocommit is off: call"
                  + " Connection.setAutoCommit(false)");
      // a savepoint ends with its transaction, as in H2
      case RELEASE -> statement.reply(Replies.updated(0));
      case SAVEPOINT, ROLLBACK_TO -> {
        boolean rollback = plan.kind() == Plan.Transaction.Kind.ROLLBACK_TO;
        if (mode == TransactionScope.AUTOCOMMIT) {
          // as in H2: outside a transaction a savepoint is gone at once
          statement.reply(
              rollback
                  ? Replies.of(SqlErrors.noSavepoint(requireNonNull(plan.savepoint())))
                  : Replies.updated(0));
        } else {
          String name = requireNonNull(plan.savepoint());
          proposal.propose(new Operation.MarkSavepoint(rollback, name, mode), Replies::of);
        }
      }
    }
    return null;
  }
}
