package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.ClusterState;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.UserName;
import dev.tollgate.node.replica.StateAccess;
import dev.tollgate.sql.LockFunction;
import dev.tollgate.sql.Plan;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.store.h2.SqlValue;
import dev.tollgate.store.schema.LockAnswers;
import dev.tollgate.store.schema.LockArguments;
import dev.tollgate.wire.SqlState;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Carries out statements that call a lock function and nothing else: by the log, by a renewal, or
 * from the replicated state. Thread-safe; nothing here waits.
 */
final class LockStatements {
  private final StatementProposals proposals;
  private final LeaseRenewals renewals;
  private final ReadAccess access;
  private final StatementQueries queries;
  private final StateAccess state;
  private final RequestWork work;

  LockStatements(
      StatementProposals proposals,
      LeaseRenewals renewals,
      ReadAccess access,
      StatementQueries queries,
      StateAccess state,
      RequestWork work) {
    this.proposals = requireNonNull(proposals, "proposals");
    this.renewals = requireNonNull(renewals, "renewals");
    this.access = requireNonNull(access, "access");
    this.queries = requireNonNull(queries, "queries");
    this.state = requireNonNull(state, "state");
    this.work = requireNonNull(work, "work");
  }

  void run(ReceivedStatement statement, Plan.LockCall plan) {
    work.attempt(
        statement.answer(),
        () -> {
          List<SqlValue> parameters = Parameters.decode(statement.onlySet(), plan.parameterCount());
          String arguments = plan.argumentsSql();
          if (arguments == null) {
            call(statement, plan, PlanArguments.values(plan.arguments(), parameters));
          } else {
            evaluate(statement, plan, arguments, parameters);
          }
        });
  }

  /** Lets the database compute the arguments first. */
  private void evaluate(
      ReceivedStatement statement,
      Plan.LockCall plan,
      String arguments,
      List<SqlValue> parameters) {
    int out = plan.outParameter() ? 1 : 0;
    List<SqlValue> given = parameters.subList(out, parameters.size());
    byte[] set = SqlValue.encodeFirst(given, given.size());
    RequestWork.Task computation =
        () -> call(statement, plan, queries.computed(statement, arguments, set));
    Workers.Kind kind = isQuery(arguments) ? Workers.Kind.QUERIES : Workers.Kind.CALLS;
    Runnable anyway = () -> work.inTurn(statement, kind, computation);
    access.withState(
        statement,
        () ->
            work.inTurn(
                statement, kind, computation, () -> proposals.cancel(statement.number(), anyway)));
  }

  /** True if arguments may take long to compute; the SELECT at their start does not count. */
  private static boolean isQuery(String argumentsSql) {
    String sql = argumentsSql.toUpperCase(Locale.ROOT);
    return sql.indexOf("SELECT", 1) >= 0
        || Stream.of("FROM", "TABLE", "VALUES").anyMatch(sql::contains);
  }

  private void call(ReceivedStatement statement, Plan.LockCall plan, List<SqlValue> values)
      throws SQLException {
    String label = plan.columnLabel();
    UserName user = statement.session().user();
    if (plan.function() == LockFunction.RENEW_LEASE) {
      renewals.renew(statement, LockArguments.leaseId(values.get(0)), label);
    } else if (plan.function() == LockFunction.HOLDS_LOCK) {
      LockName lock = LockArguments.lockName(values.get(0));
      long token = LockArguments.token(values.get(1));
      ask(statement, LockAnswers.Kind.YES_OR_NO, label, now -> now.holdsLock(user, lock, token));
    } else if (plan.function() == LockFunction.LOCK_TOKEN) {
      LockName lock = LockArguments.lockName(values.get(0));
      ask(statement, LockAnswers.Kind.NUMBER, label, now -> now.lockToken(user, lock));
    } else {
      Operation operation =
          Operations.lockCall(
              plan.function(),
              values,
              statement.session().options().lockWaitMillis(),
              statement.client().application(),
              statement.scope());
      requireProvenLease(statement, operation);
      LockAnswers.Kind kind = answerOf(plan.function());
      proposals.propose(statement, operation, outcome -> Replies.of(outcome, kind, label));
    }
  }

  /** What the function returns. */
  static LockAnswers.Kind answerOf(LockFunction function) {
    return switch (function) {
      case HOLDS_LOCK, RELEASE_LOCK, FORCE_RELEASE_LOCK, REVOKE_LEASE -> LockAnswers.Kind.YES_OR_NO;
      case ACQUIRE_LOCKS, TRY_ACQUIRE_LOCKS -> LockAnswers.Kind.NUMBERS;
      case ACQUIRE_TRANSACTION_LOCK -> LockAnswers.Kind.NUMBER_OF_TRANSACTION;
      case CREATE_LEASE,
          RENEW_LEASE,
          ACQUIRE_LOCK,
          TRY_ACQUIRE_LOCK,
          ACQUIRE_SHARED_LOCK,
          TRY_ACQUIRE_SHARED_LOCK,
          TRANSFER_LOCK,
          LOCK_TOKEN ->
          LockAnswers.Kind.NUMBER;
    };
  }

  /** Answers from the replicated state. */
  private void ask(
      ReceivedStatement statement,
      LockAnswers.Kind kind,
      String label,
      Function<ClusterState, Outcome> question) {
    access.withState(
        statement,
        () -> state.ask(now -> statement.reply(Replies.of(question.apply(now), kind, label))));
  }

  /** Rejects a client that cannot prove that its own lease is alive (invariant I8). */
  private static void requireProvenLease(ReceivedStatement statement, Operation operation)
      throws SQLException {
    boolean own =
        (operation instanceof Operation.AcquireLock acquire && acquire.lease() == null)
            || (operation instanceof Operation.AcquireLocks locks && locks.lease() == null)
            || (operation instanceof Operation.ReleaseLock release && release.lease() == null)
            || (operation instanceof Operation.TransferLock transfer
                && (transfer.from() == null || transfer.to() == null));
    if (own && !statement.request().ownLeaseTrusted()) {
      throw SqlErrors.exception(
          SqlState.LEASE_GONE,
          "the connection could not renew its own lease in time, so it may be gone; try again once"
              + " the cluster answers");
    }
  }
}
