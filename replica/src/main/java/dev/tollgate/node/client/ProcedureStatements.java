package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.MembershipException;
import dev.tollgate.log.NotLeadingException;
import dev.tollgate.log.SnapshotUnavailableException;
import dev.tollgate.node.audit.Actor;
import dev.tollgate.node.audit.AuditTrail;
import dev.tollgate.sql.Plan;
import dev.tollgate.store.h2.SqlValue;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.SqlState;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
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
  private final AuditTrail audit;

  ProcedureStatements(
      Administration administration,
      StatementQueries queries,
      Leadership leadership,
      RequestWork work,
      AuditTrail audit) {
    this.administration = requireNonNull(administration, "administration");
    this.queries = requireNonNull(queries, "queries");
    this.leadership = requireNonNull(leadership, "leadership");
    this.work = requireNonNull(work, "work");
    this.audit = requireNonNull(audit, "audit");
  }

  void run(ReceivedStatement statement, Plan.Administer plan) {
    work.attempt(
        statement.answer(),
        () -> {
          List<SqlValue> parameters = Parameters.decode(statement.onlySet(), plan.parameterCount());
          List<SqlValue> arguments = PlanArguments.values(plan.arguments(), parameters);
          work.onWorker(
              Workers.Kind.FILES,
              statement.session().user(),
              statement.answer(),
              () -> call(statement, plan, arguments));
        });
  }

  private void call(ReceivedStatement statement, Plan.Administer plan, List<SqlValue> arguments)
      throws SQLException {
    administration
        .run(plan.procedure(), arguments, statement.session().id())
        .whenComplete((done, failure) -> record(statement, plan, arguments, failure))
        .thenRun(
            () ->
                work.onWorker(
                    Workers.Kind.QUERIES,
                    statement.session().user(),
                    statement.answer(),
                    () ->
                        queries.runOwn(
                            statement,
                            plan.procedure().resultSql(),
                            SqlValue.encodeFirst(List.of(), 0))))
        .exceptionally(failure -> notDone(statement, plan, failure));
  }

  /** Has auditors know who called which procedure, and what came of it. */
  private void record(
      ReceivedStatement statement,
      Plan.Administer plan,
      List<SqlValue> arguments,
      @Nullable Throwable failure) {
    if (!audit.isOn()) {
      return;
    }
    Throwable cause = causeOf(failure);
    audit.administered(
        new Actor(
            statement.session().user().value(), statement.session().id(), statement.client(), null),
        plan.procedure().name().toLowerCase(Locale.ROOT),
        texts(arguments),
        cause == null
            ? "done"
            : cause instanceof NotLeadingException
                ? "unknown"
                : cause instanceof MembershipException refused
                    ? "refused: " + refused.getMessage()
                    : "failed");
  }

  private static String texts(List<SqlValue> arguments) {
    List<String> texts = new ArrayList<>();
    for (SqlValue argument : arguments) {
      String text = argument.textOrNull();
      texts.add(text == null ? "(no text)" : text);
    }
    return String.join(", ", texts);
  }

  private static @Nullable Throwable causeOf(@Nullable Throwable failure) {
    return failure instanceof CompletionException ? failure.getCause() : failure;
  }

  private @Nullable Void notDone(
      ReceivedStatement statement, Plan.Administer plan, Throwable failure) {
    Throwable cause = causeOf(failure);
    if (cause instanceof NotLeadingException) {
      statement.reply(leadership.notLeader());
    } else if (cause instanceof MembershipException refused) {
      statement.reply(
          new Reply.Failure(SqlState.ADMINISTRATION, requireNonNull(refused.getMessage())));
    } else if (cause instanceof SnapshotUnavailableException unavailable) {
      statement.reply(Replies.of(unavailable));
    } else {
      work.onWorker(
          Workers.Kind.QUERIES,
          statement.session().user(),
          statement.answer(),
          () -> {
            throw new IllegalStateException(plan.procedure() + " failed", cause);
          });
    }
    return null;
  }
}
