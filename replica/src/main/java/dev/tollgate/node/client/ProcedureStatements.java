package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.MembershipException;
import dev.tollgate.log.NotLeadingException;
import dev.tollgate.log.SnapshotUnavailableException;
import dev.tollgate.sql.Plan;
import dev.tollgate.store.h2.SqlValue;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.SqlState;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * Carries out statements that call a procedure of administrators, and answers with the rows that
 * show what the procedure did. Thread-safe; nothing here waits.
 */
final class ProcedureStatements {
  private final Administration administration;
  private final StatementQueries queries;
  private final Leadership leadership;
  private final RequestWork work;

  ProcedureStatements(
      Administration administration,
      StatementQueries queries,
      Leadership leadership,
      RequestWork work) {
    this.administration = requireNonNull(administration, "administration");
    this.queries = requireNonNull(queries, "queries");
    this.leadership = requireNonNull(leadership, "leadership");
    this.work = requireNonNull(work, "work");
  }

  void run(ReceivedStatement statement, Plan.Administer plan) {
    work.attempt(
        statement.answer(),
        () -> {
          List<SqlValue> parameters = Parameters.decode(statement.onlySet(), plan.parameterCount());
          List<SqlValue> arguments = PlanArguments.values(plan.arguments(), parameters);
          work.onWorker(
              Workers.Kind.FILES, statement.answer(), () -> call(statement, plan, arguments));
        });
  }

  private void call(ReceivedStatement statement, Plan.Administer plan, List<SqlValue> arguments)
      throws SQLException {
    administration
        .run(plan.procedure(), arguments)
        .thenRun(
            () ->
                work.onWorker(
                    statement.answer(),
                    () ->
                        queries.run(
                            statement,
                            plan.procedure().resultSql(),
                            SqlValue.encodeFirst(List.of(), 0))))
        .exceptionally(failure -> notDone(statement, plan, failure));
  }

  private @Nullable Void notDone(
      ReceivedStatement statement, Plan.Administer plan, Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    if (cause instanceof NotLeadingException) {
      statement.reply(leadership.notLeader());
    } else if (cause instanceof MembershipException refused) {
      statement.reply(
          new Reply.Failure(SqlState.ADMINISTRATION, requireNonNull(refused.getMessage())));
    } else if (cause instanceof SnapshotUnavailableException unavailable) {
      statement.reply(Replies.of(unavailable));
    } else {
      work.onWorker(
          statement.answer(),
          () -> {
            throw new IllegalStateException(plan.procedure() + " failed", cause);
          });
    }
    return null;
  }
}
