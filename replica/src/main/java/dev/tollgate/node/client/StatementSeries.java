package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RequestId;
import dev.tollgate.core.command.SeriesEnd;
import dev.tollgate.sql.Plan;
import dev.tollgate.sql.SqlFrontend;
import dev.tollgate.sql.SqlRefused;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SeriesEnding;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Carries out series of statements: one operation, which goes through the log once. A statement
 * that fails before the log, for example for its syntax, has its failure in its place among the
 * results. Which ones do depends on their texts and parameters alone, so a series that is sent
 * again has the same results. Thread-safe; nothing here waits.
 */
final class StatementSeries {
  /** Most statements of a series that an event loop makes into an operation. */
  private static final int SHORT_SERIES = 20;

  private final SqlFrontend frontend;
  private final StatementProposals proposals;
  private final Admission admission;
  private final AccountStatements accounts;
  private final RequestWork work;

  StatementSeries(
      SqlFrontend frontend,
      StatementProposals proposals,
      Admission admission,
      AccountStatements accounts,
      RequestWork work) {
    this.frontend = requireNonNull(frontend, "frontend");
    this.proposals = requireNonNull(proposals, "proposals");
    this.admission = requireNonNull(admission, "admission");
    this.accounts = requireNonNull(accounts, "accounts");
    this.work = requireNonNull(work, "work");
  }

  /**
   * Carries out a series: on this thread if it is short and its texts are planned, else elsewhere.
   *
   * @param losses connections that were lost while the reply was due on them
   */
  void run(
      AttachedSession session,
      Request.ExecuteSeries request,
      int losses,
      OpenResults results,
      Cancellations.Statement cancellation,
      TimedAnswer answer) {
    NumberedRequest number =
        new NumberedRequest(
            new RequestId(session.id(), request.sequence()),
            RequestContent.of(request),
            Operations.scope(request.mode()),
            cancellation,
            answer);
    List<Plan> known = new ArrayList<>();
    long unplannedChars = 0;
    for (Request.SeriesStatement statement : request.statements()) {
      Plan plan = frontend.cached(statement.sql());
      if (plan == null) {
        unplannedChars += statement.sql().length();
      } else {
        known.add(plan);
      }
    }
    // a text may be empty, and a verifier of a password takes a tenth of a second
    boolean planned =
        known.size() == request.statements().size()
            && known.stream().noneMatch(plan -> plan instanceof Plan.ConfigureUser);
    if (planned && request.statements().size() <= SHORT_SERIES) {
      try {
        Iterator<Plan> plans = known.iterator();
        work.attempt(
            answer, () -> propose(number, session, losses, results, request, sql -> plans.next()));
      } catch (RuntimeException | Error e) {
        answer.accept(work.unexpected(e));
      }
    } else {
      Workers.Kind kind = Workers.Kind.ofPlans(unplannedChars);
      RequestWork.Task planning =
          () -> propose(number, session, losses, results, request, frontend::plan);
      work.inTurn(
          results,
          session.user(),
          kind,
          cancellation,
          answer,
          planning,
          () ->
              proposals.cancel(
                  number, () -> work.inTurn(results, session.user(), kind, answer, planning)));
    }
  }

  private void propose(
      NumberedRequest number,
      AttachedSession session,
      int losses,
      OpenResults results,
      Request.ExecuteSeries request,
      Function<String, Plan> planner)
      throws SQLException {
    if (request.statements().size() > Protocol.MAX_SERIES_STATEMENTS) {
      throw SqlErrors.invalid(
          "a series of "
              + request.statements().size()
              + " statements: at most "
              + Protocol.MAX_SERIES_STATEMENTS
              + " go in one");
    }
    Planned planned = plan(request, session, planner);
    if (planned.isFirstSound()) {
      number.answer().planned();
    }
    if (planned.changes().isEmpty()) {
      number.answer().accept(new Reply.BatchResult(planned.results(List.of())));
      return;
    }
    SeriesEnding ending =
        planned.hasFailure() && request.ending() == SeriesEnding.COMMIT
            ? SeriesEnding.STOP_AT_FAILURE
            : request.ending();
    Operation operation = planned.operation(Operations.end(ending));
    admission.admit(
        number,
        session,
        losses,
        results,
        planned.writes(),
        () ->
            proposals.propose(
                number,
                operation,
                outcome ->
                    outcome instanceof Outcome.Batch batch
                        ? new Reply.BatchResult(planned.results(batch.outcomes()))
                        : Replies.of(outcome)));
  }

  private Planned plan(
      Request.ExecuteSeries request, AttachedSession session, Function<String, Plan> planner)
      throws SQLException {
    boolean stops = request.ending() != SeriesEnding.RUN_ALL;
    List<Admission.Write> writes = new ArrayList<>();
    List<Operation.ExecuteSql> changes = new ArrayList<>();
    List<@Nullable Reply> given = new ArrayList<>();
    Operation definition = null;
    for (Request.SeriesStatement statement : request.statements()) {
      Reply instead = null;
      try {
        Plan plan = planner.apply(statement.sql());
        boolean mayDefine = given.size() == request.statements().size() - 1 && isMark(request);
        definition = mayDefine ? definition(plan, statement, request, session) : null;
        if (mayDefine && plan instanceof Plan.Nothing) {
          instead = Replies.updated(0);
        } else if (definition == null) {
          Operation.ExecuteSql change =
              Operations.inSeries(plan, statement.parameterSet(), request);
          changes.add(change);
          writes.add(new Admission.Write(statement.sql(), (Plan.Write) plan, change));
        } else if (definition instanceof Operation.ExecuteSql sql) {
          writes.add(new Admission.Write(statement.sql(), (Plan.Write) plan, sql));
        }
      } catch (SqlRefused e) {
        instead = Replies.of(e);
      } catch (SQLException e) {
        instead = Replies.of(e);
      }
      given.add(instead);
      if (instead instanceof Reply.Failure && stops) {
        break;
      }
    }
    return new Planned(changes, definition, writes, given, stops);
  }

  /** Returns true if the statements before the last may be the marks of a definition. */
  private static boolean isMark(Request.ExecuteSeries request) {
    return request.ending() == SeriesEnding.COMMIT && request.statements().size() > 1;
  }

  private @Nullable Operation definition(
      Plan plan,
      Request.SeriesStatement statement,
      Request.ExecuteSeries request,
      AttachedSession session)
      throws SQLException {
    return Operations.definition(
        plan,
        statement.parameterSet(),
        request,
        (user, values) -> accounts.configure(user, session, values));
  }

  /**
   * A series whose statements are planned.
   *
   * @param changes the statements that change rows and go into the log
   * @param definition the last statement, if it is a definition; the others are its marks
   * @param writes what the leader tries before it lets the series into the log
   * @param given for each statement of the request its reply, or null if it goes into the log
   * @param stops true if no statement runs after one that fails
   */
  private record Planned(
      List<Operation.ExecuteSql> changes,
      @Nullable Operation definition,
      List<Admission.Write> writes,
      List<@Nullable Reply> given,
      boolean stops) {
    Operation operation(SeriesEnd end) {
      Operation last = definition;
      return last == null
          ? new Operation.ExecuteSeries(changes, end)
          : new Operation.DefineMarked(changes, last);
    }

    boolean isFirstSound() {
      return !given.isEmpty() && given.get(0) == null;
    }

    boolean hasFailure() {
      return given.stream().anyMatch(Reply.Failure.class::isInstance);
    }

    /** Puts the replies from before the log and the outcomes from the log into their order. */
    List<Reply> results(List<Outcome> outcomes) {
      List<Reply> results = new ArrayList<>();
      Iterator<Outcome> ran = outcomes.iterator();
      for (Reply instead : given) {
        Reply result = instead == null && ran.hasNext() ? Replies.of(ran.next()) : instead;
        if (result == null || (stops && isFailureBefore(results))) {
          return results;
        }
        results.add(result);
      }
      ran.forEachRemaining(commit -> results.add(Replies.of(commit)));
      return results;
    }

    private static boolean isFailureBefore(List<Reply> results) {
      return !results.isEmpty() && results.get(results.size() - 1) instanceof Reply.Failure;
    }
  }
}
