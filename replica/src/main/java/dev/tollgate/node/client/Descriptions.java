package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.node.replica.Facts;
import dev.tollgate.sql.Plan;
import dev.tollgate.store.SqlReader;
import dev.tollgate.store.schema.LockAnswers;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import java.sql.SQLException;
import java.util.function.Consumer;

/**
 * Describes to clients what a statement takes and returns, and which tables there are. Thread-safe.
 */
final class Descriptions {
  private final SqlReader reader;
  private final Facts facts;
  private final ReadAccess access;
  private final RequestWork work;

  Descriptions(SqlReader reader, Facts facts, ReadAccess access, RequestWork work) {
    this.reader = requireNonNull(reader, "reader");
    this.facts = requireNonNull(facts, "facts");
    this.access = requireNonNull(access, "access");
    this.work = requireNonNull(work, "work");
  }

  /** A node that lags behind must not report a table missing that the statement will find. */
  void describe(
      AttachedSession session, Plan plan, int losses, OpenResults results, Consumer<Reply> answer) {
    Runnable description =
        () ->
            work.inTurn(
                results,
                session.user(),
                plan instanceof Plan.LockCall ? Workers.Kind.CALLS : Workers.Kind.QUERIES,
                answer,
                () -> answer.accept(of(plan, session.settings(facts), losses)));
    if (plan instanceof Plan.Read) {
      access.withState(session.options().readConsistency(), answer, description);
    } else if (plan instanceof Plan.Write) {
      access.withState(ReadConsistency.LINEARIZABLE, answer, description);
    } else {
      description.run();
    }
  }

  void metadata(
      AttachedSession session,
      Request.Metadata request,
      int losses,
      OpenResults results,
      Consumer<Reply> answer) {
    access.withState(
        session.options().readConsistency(),
        answer,
        () ->
            work.inTurn(
                results,
                session.user(),
                Workers.Kind.QUERIES,
                answer,
                () ->
                    answer.accept(
                        new Reply.Result(
                            reader.metadata(
                                session.settings(facts),
                                request.code(),
                                request.arguments(),
                                new SqlReader.Canceller(losses))))));
  }

  /**
   * @param settings of the session
   * @throws SQLException if the database does not know what the statement names
   */
  private Reply.Prepared of(Plan plan, SqlReader.Settings settings, int losses)
      throws SQLException {
    SqlReader.Canceller canceller = new SqlReader.Canceller(losses);
    if (plan instanceof Plan.Read read) {
      return withFence(reader.describe(settings, read.sql(), canceller), read.parameterCount());
    }
    if (plan instanceof Plan.Write write) {
      return withFence(reader.describe(settings, write.sql(), canceller), write.parameterCount());
    }
    if (plan instanceof Plan.LockCall call) {
      return LockAnswers.describe(
          call.columnLabel(), LockStatements.answerOf(call.function()), call.parameterCount());
    }
    if (plan instanceof Plan.Administer call) {
      return withFence(
          reader.describe(settings, call.procedure().resultSql(), canceller),
          call.parameterCount());
    }
    return LockAnswers.describeCommand(plan.parameterCount());
  }

  /** Adds the parameters of a fence after those that the database knows. */
  private static Reply.Prepared withFence(Reply.Prepared described, int parameterCount) {
    return new Reply.Prepared(
        described.query(),
        described.commandType(),
        LockAnswers.withMoreParameters(described.parameters(), parameterCount),
        described.columns());
  }
}
