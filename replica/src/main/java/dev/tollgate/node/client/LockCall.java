package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.ClusterState;
import dev.tollgate.core.command.FencingToken;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.node.replica.TimeKeeper;
import dev.tollgate.sql.LockFunction;
import dev.tollgate.sql.Plan;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.store.h2.SqlValue;
import dev.tollgate.store.schema.LockAnswers;
import dev.tollgate.store.schema.LockArguments;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.SqlState;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A call of a lock function as a statement of its own. */
final class LockCall {
  private final ReceivedStatement statement;
  private final ClientService service;
  private final StatementProposal proposal;
  private final StatementQuery query;

  LockCall(ReceivedStatement statement, StatementProposal proposal, StatementQuery query) {
    this.statement = requireNonNull(statement, "statement");
    service = statement.service();
    this.proposal = requireNonNull(proposal, "proposal");
    this.query = requireNonNull(query, "query");
  }

  void run(Plan.LockCall plan) {
    statement.attempt(
        () -> {
          List<SqlValue> parameters = Parameters.decode(statement.onlySet(), plan.parameterCount());
          String arguments = plan.argumentsSql();
          if (arguments == null) {
            call(plan, PlanArguments.values(plan.arguments(), parameters));
          } else {
            evaluate(plan, arguments, parameters);
          }
        });
  }

  /** Lets the database compute the arguments first. */
  private void evaluate(Plan.LockCall plan, String arguments, List<SqlValue> parameters) {
    int out = plan.outParameter() ? 1 : 0;
    List<SqlValue> given = parameters.subList(out, parameters.size());
    byte[] set = SqlValue.encodeFirst(given, given.size());
    query.withReadAccess(
        () ->
            statement
                .runner()
                .onWorker(
                    isQuery(arguments) ? Workers.Kind.QUERIES : Workers.Kind.CALLS,
                    statement.answer(),
                    () -> call(plan, query.computed(arguments, set))));
  }

  /** True if arguments may take long to compute; the SELECT at their start does not count. */
  private static boolean isQuery(String argumentsSql) {
    String sql = argumentsSql.toUpperCase(Locale.ROOT);
    return sql.indexOf("SELECT", 1) >= 0
        || Stream.of("FROM", "TABLE", "VALUES").anyMatch(sql::contains);
  }

  private void call(Plan.LockCall plan, List<SqlValue> values) throws SQLException {
    String label = plan.columnLabel();
    if (plan.function() == LockFunction.RENEW_LEASE) {
      renew(LockArguments.leaseId(values.get(0)), label);
    } else if (plan.function() == LockFunction.HOLDS_LOCK) {
      LockName lock = LockArguments.lockName(values.get(0));
      long token = LockArguments.token(values.get(1));
      query.withReadAccess(
          () -> ask(state -> LockAnswers.resultOf(state.holdsLock(lock, token), label)));
    } else if (plan.function() == LockFunction.LOCK_TOKEN) {
      LockName lock = LockArguments.lockName(values.get(0));
      query.withReadAccess(() -> ask(state -> LockAnswers.resultOf(tokenOf(state, lock), label)));
    } else {
      Operation operation =
          Operations.lockCall(
              plan.function(),
              values,
              statement.session().options().lockWaitMillis(),
              statement.client().application());
      requireProvenLease(operation);
      proposal.propose(operation, outcome -> Replies.of(outcome, label));
    }
  }

  /** Answers from the replicated state. */
  private void ask(Function<ClusterState, byte[]> question) {
    service.replica().ask(state -> statement.result(question.apply(state)));
  }

  private static @Nullable Long tokenOf(ClusterState state, LockName lock) {
    FencingToken token = state.lockToken(lock);
    return token == null ? null : (Long) token.value();
  }

  /** Rejects a client that cannot prove that its own lease is alive (invariant I8). */
  private void requireProvenLease(Operation operation) throws SQLException {
    boolean own =
        (operation instanceof Operation.AcquireLock acquire && acquire.lease() == null)
            || (operation instanceof Operation.ReleaseLock release && release.lease() == null);
    if (own && !statement.request().ownLeaseTrusted()) {
      throw SqlErrors.exception(
          SqlState.LEASE_GONE,
          "the connection could not renew its own lease in time, so it may be gone; try again once"
              + " the cluster answers");
    }
  }

  private void renew(LeaseId lease, String label) {
    long arrived = service.timeKeeper().now();
    service.timeKeeper().renew(lease, arrived);
    service.proveLeadership(leads -> renewed(leads, lease, arrived, label));
  }

  private void renewed(boolean leads, LeaseId lease, long arrived, String label) {
    switch (leads ? service.timeKeeper().renew(lease, arrived) : TimeKeeper.Renewal.NOT_HERE) {
      case RENEWED ->
          statement.result(
              LockAnswers.resultOf(service.timeKeeper().remainingMillis(lease), label));
      case NOT_YET ->
          service.awaitEntry(
              still -> service.workers().chore(() -> renewed(still, lease, arrived, label)));
      case GONE, WITHOUT_OWN_LEASE -> statement.reply(gone(lease));
      case NOT_HERE -> statement.reply(statement.notLeader());
    }
  }

  private Reply gone(LeaseId lease) {
    boolean existed = service.replica().facts().leaseExisted(lease);
    return new Reply.Failure(
        SqlState.LEASE_GONE,
        existed
            ? "lease " + lease + " has expired or was revoked, its locks are released"
            : "lease " + lease + " was never created");
  }
}
