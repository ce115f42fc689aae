package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.RequestId;
import dev.tollgate.sql.Plan;
import dev.tollgate.sql.SqlFrontend;
import dev.tollgate.sql.SqlRefused;
import dev.tollgate.store.SqlReader;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * The requests of one connection about statements: plans a statement and has it executed or
 * described, and sends on the rows of results. Knows the connection's open results. The transport
 * calls it one frame at a time; its work runs on other threads.
 */
final class StatementRequests {
  private final SqlFrontend frontend;
  private final StatementExecution execution;
  private final StatementSeries series;
  private final Descriptions descriptions;
  private final RequestWork work;
  private final Cancellations cancellations;
  private final SlowStatements slow;
  private final OpenResults results;

  StatementRequests(
      SqlFrontend frontend,
      StatementExecution execution,
      StatementSeries series,
      Descriptions descriptions,
      RequestWork work,
      Cancellations cancellations,
      SlowStatements slow,
      OpenResults results) {
    this.results = requireNonNull(results, "results");
    this.frontend = requireNonNull(frontend, "frontend");
    this.execution = requireNonNull(execution, "execution");
    this.series = requireNonNull(series, "series");
    this.descriptions = requireNonNull(descriptions, "descriptions");
    this.work = requireNonNull(work, "work");
    this.cancellations = requireNonNull(cancellations, "cancellations");
    this.slow = requireNonNull(slow, "slow");
  }

  /**
   * @param losses as in {@link dev.tollgate.wire.Frame}
   */
  void execute(
      AttachedSession session,
      ClientInfo client,
      Request.Execute request,
      int losses,
      Consumer<Reply> answer) {
    RequestId id = new RequestId(session.id(), request.sequence());
    Cancellations.Statement cancellation = cancellations.begins(id);
    TimedAnswer timed =
        slow.time(
            session, client, request.sql(), /* others= */ 0, ending(id, cancellation, answer));
    ReceivedStatement statement =
        new ReceivedStatement(session, client, request, losses, results, cancellation, timed);
    withPlan(
        request.sql(),
        timed,
        plan -> {
          timed.planned();
          execution.run(statement, plan);
        },
        (kind, planning) -> execution.inTurn(statement, kind, planning));
  }

  /**
   * @param losses as in {@link dev.tollgate.wire.Frame}
   */
  void executeSeries(
      AttachedSession session,
      ClientInfo client,
      Request.ExecuteSeries request,
      int losses,
      Consumer<Reply> answer) {
    List<Request.SeriesStatement> statements = request.statements();
    String first = statements.isEmpty() ? "" : statements.get(0).sql();
    RequestId id = new RequestId(session.id(), request.sequence());
    Cancellations.Statement cancellation = cancellations.begins(id);
    TimedAnswer timed =
        slow.time(session, client, first, statements.size() - 1, ending(id, cancellation, answer));
    series.run(session, request, losses, results, cancellation, timed);
  }

  private Consumer<Reply> ending(
      RequestId id, Cancellations.Statement cancellation, Consumer<Reply> answer) {
    return reply -> {
      cancellations.ends(id, cancellation);
      answer.accept(reply);
    };
  }

  /**
   * @param losses as in {@link dev.tollgate.wire.Frame}
   */
  void prepare(
      AttachedSession session, Request.Prepare request, int losses, Consumer<Reply> answer) {
    withPlan(
        request.sql(),
        answer,
        plan -> descriptions.describe(session, plan, losses, results, answer),
        (kind, planning) -> work.inTurn(results, session.user(), kind, answer, planning));
  }

  /**
   * Plans a statement: at once if it was seen lately, else on a worker.
   *
   * @param worker has the planning done on a thread of this kind
   */
  private void withPlan(
      String sql,
      Consumer<Reply> answer,
      Consumer<Plan> then,
      BiConsumer<Workers.Kind, RequestWork.Task> worker) {
    Plan known = frontend.cached(sql);
    if (known != null) {
      try {
        then.accept(known);
      } catch (RuntimeException | Error e) {
        answer.accept(work.unexpected(e));
      }
    } else {
      worker.accept(
          Workers.Kind.ofPlans(sql.length()),
          () -> {
            try {
              then.accept(frontend.plan(sql));
            } catch (SqlRefused e) {
              answer.accept(Replies.of(e));
            }
          });
    }
  }

  /**
   * @param losses as in {@link dev.tollgate.wire.Frame}
   */
  void metadata(
      AttachedSession session, Request.Metadata request, int losses, Consumer<Reply> answer) {
    descriptions.metadata(session, request, losses, results, answer);
  }

  void fetch(AttachedSession session, Request.Fetch request, Consumer<Reply> answer) {
    work.inTurn(
        results,
        session.user(),
        Workers.Kind.QUERIES,
        answer,
        () -> {
          OpenResults.Rest rest = results.take(request.cursorId());
          if (rest == null) {
            answer.accept(
                new Reply.Failure(
                    SqlState.CONFLICT,
                    "the rest of the result is not on this node: run the query again"));
          } else {
            SqlReader.Page page = rest.cursor().fetch(request.pageRows(), request.cursorId());
            results.keep(request.cursorId(), rest.sql(), page);
            answer.accept(new Reply.Result(page.body().bytes()));
          }
        });
  }

  void closeCursor(long cursorId) {
    results.close(cursorId);
  }

  /** True if the client may still fetch rows of a result. */
  boolean hasRows() {
    return results.hasRows();
  }

  /** Releases what the connection has open, and cancels its queries. */
  void close() {
    results.close();
  }
}
