package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.ClusterState;
import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.FencingToken;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RequestId;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.log.MembershipException;
import dev.tollgate.log.NotLeadingException;
import dev.tollgate.log.SnapshotUnavailableException;
import dev.tollgate.log.entry.Proposal;
import dev.tollgate.node.replica.Facts;
import dev.tollgate.node.replica.TimeKeeper;
import dev.tollgate.sql.LockFunction;
import dev.tollgate.sql.Plan;
import dev.tollgate.store.SqlReader;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.store.h2.SqlValue;
import dev.tollgate.store.schema.LockAnswers;
import dev.tollgate.store.schema.LockArguments;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import dev.tollgate.wire.WireFormatException;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One statement on its way: from its plan to the log or to a query, and back to the client. Each
 * plan ends in exactly one reply.
 */
final class StatementExecution implements Plan.Handler<Void> {
  /** What SET TIME ZONE may say, besides LOCAL. */
  private static final Set<String> UTC =
      Set.of("UTC", "GMT", "Z", "+00", "+00:00", "UTC+00", "UTC+00:00", "ETC/UTC");

  private final ClientService service;
  private final QueryRunner runner;
  private final ClientConnection.Attached session;
  private final ClientInfo client;
  private final Request.Execute request;
  private final Consumer<Reply> answer;

  StatementExecution(
      ClientService service,
      QueryRunner runner,
      ClientConnection.Attached session,
      ClientInfo client,
      Request.Execute request,
      Consumer<Reply> answer) {
    this.service = requireNonNull(service, "service");
    this.runner = requireNonNull(runner, "runner");
    this.session = requireNonNull(session, "session");
    this.client = requireNonNull(client, "client");
    this.request = requireNonNull(request, "request");
    this.answer = requireNonNull(answer, "answer");
  }

  /** Work on input that a client may have got wrong. */
  private interface Attempt {
    void run() throws SQLException;
  }

  void run(Plan plan) {
    plan.handledBy(this);
  }

  @Override
  public Void read(Plan.Read plan) {
    attempt(
        () -> {
          byte[] set = Parameters.first(onlySet(), plan.sqlParameterCount(), plan.parameterCount());
          withReadAccess(
              () -> inTransaction(() -> runner.onWorker(answer, () -> query(plan.sql(), set))));
        });
    return null;
  }

  /**
   * Ensures that a serializable transaction is alone before it reads, and that the client learns of
   * the end of its transaction before it goes on.
   */
  private void inTransaction(Runnable work) {
    TransactionScope mode = Operations.mode(request);
    if (mode == TransactionScope.AUTOCOMMIT) {
      work.run();
      return;
    }
    Facts.SessionFacts state = service.replica().facts().session(session.id());
    boolean begun = state != null && state.inTransaction();
    String lost = state == null ? null : state.lostTransaction();
    if (lost != null) {
      answer.accept(new Reply.Failure(SqlState.CONFLICT, lost));
    } else if (mode == TransactionScope.SERIALIZABLE && !begun) {
      propose(
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
        service.timeKeeper().noteUse(session.id());
      }
      work.run();
    }
  }

  private void query(String sql, byte[] parameterSet) throws SQLException {
    if (!runner.mayOpenCursor()) {
      answer.accept(
          new Reply.Failure(
              SqlState.TOO_MANY,
              "the connection has "
                  + QueryRunner.maxCursors()
                  + " results open: close those that are not needed"));
      return;
    }
    long cursorId = runner.nextCursorId();
    SqlReader.Page page =
        cancellable(
            canceller ->
                service
                    .reader()
                    .query(
                        transactionToRead(),
                        runner.settingsOf(session),
                        sql,
                        parameterSet,
                        request.maxRows(),
                        request.pageRows(),
                        cursorId,
                        service.views(),
                        canceller));
    runner.keep(cursorId, page);
    answer.accept(new Reply.Result(page.body().bytes()));
  }

  @Override
  public Void write(Plan.Write plan) {
    attempt(
        () -> {
          service.memory().requireRoomFor(plan.sql());
          propose(Operations.write(plan, request), Replies::of);
        });
    return null;
  }

  @Override
  public Void lockCall(Plan.LockCall plan) {
    attempt(
        () -> {
          List<SqlValue> parameters = Parameters.decode(onlySet(), plan.parameterCount());
          String arguments = plan.argumentsSql();
          if (arguments == null) {
            call(plan, PlanArguments.values(plan.arguments(), parameters));
          } else {
            evaluate(plan, arguments, parameters);
          }
        });
    return null;
  }

  /** Lets the database compute the arguments first. */
  private void evaluate(Plan.LockCall plan, String arguments, List<SqlValue> parameters) {
    int out = plan.outParameter() ? 1 : 0;
    List<SqlValue> given = parameters.subList(out, parameters.size());
    byte[] set = SqlValue.encodeFirst(given, given.size());
    withReadAccess(
        () ->
            runner.onWorker(
                isQuery(arguments) ? Workers.Kind.QUERIES : Workers.Kind.CALLS,
                answer,
                () -> call(plan, computed(arguments, set))));
  }

  private List<SqlValue> computed(String arguments, byte[] set) throws SQLException {
    return cancellable(
        canceller ->
            service
                .reader()
                .evaluate(
                    transactionToRead(),
                    runner.settingsOf(session),
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
    service.queryStarts(session.id(), canceller);
    runner.queryStarts(canceller);
    try {
      return query.run(canceller);
    } finally {
      runner.queryEnds(canceller);
      service.queryEnds(session.id(), canceller);
    }
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
      withReadAccess(() -> ask(state -> LockAnswers.resultOf(state.holdsLock(lock, token), label)));
    } else if (plan.function() == LockFunction.LOCK_TOKEN) {
      LockName lock = LockArguments.lockName(values.get(0));
      withReadAccess(() -> ask(state -> LockAnswers.resultOf(tokenOf(state, lock), label)));
    } else {
      Operation operation =
          Operations.lockCall(
              plan.function(), values, session.options().lockWaitMillis(), client.application());
      requireProvenLease(operation);
      propose(operation, outcome -> Replies.of(outcome, label));
    }
  }

  /** Answers from the replicated state. */
  private void ask(Function<ClusterState, byte[]> question) {
    service.replica().ask(state -> result(question.apply(state)));
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
    if (own && !request.ownLeaseTrusted()) {
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
          result(LockAnswers.resultOf(service.timeKeeper().remainingMillis(lease), label));
      case NOT_YET ->
          service.awaitEntry(
              still -> service.workers().chore(() -> renewed(still, lease, arrived, label)));
      case GONE, WITHOUT_OWN_LEASE -> answer.accept(gone(lease));
      case NOT_HERE -> answer.accept(notLeader());
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

  @Override
  public Void fenceTable(Plan.FenceTable plan) {
    attempt(() -> propose(Operations.fenceTable(plan, request), Replies::of));
    return null;
  }

  @Override
  public Void unfenceTable(Plan.UnfenceTable plan) {
    propose(Operations.unfenceTable(plan, request), Replies::of);
    return null;
  }

  @Override
  public Void presentToken(Plan.PresentToken plan) {
    attempt(
        () -> {
          List<SqlValue> parameters = Parameters.decode(onlySet(), plan.parameterCount());
          propose(Operations.presentToken(plan.lock(), plan.token(), parameters), Replies::of);
        });
    return null;
  }

  @Override
  public Void setSession(Plan.SetSession plan) {
    attempt(
        () -> {
          List<SqlValue> parameters = Parameters.decode(onlySet(), plan.parameterCount());
          String text = PlanArguments.value(plan.value(), parameters).textOrNull();
          switch (plan.setting()) {
            case SCHEMA ->
                propose(
                    new Operation.SetSchema(PlanArguments.schemaName(plan.value(), parameters)),
                    Replies::of);
            case LOCK_TIMEOUT ->
                propose(PlanArguments.lockTimeout(plan.value(), parameters), Replies::of);
            // the driver enforces the query timeout
            case QUERY_TIMEOUT -> answer.accept(Replies.updated(0));
            case AUTOCOMMIT ->
                acceptOnly(
                    "true".equals(text)
                        == (Operations.mode(request) == TransactionScope.AUTOCOMMIT),
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
    attempt(
        () -> {
          List<SqlValue> parameters = Parameters.decode(onlySet(), plan.parameterCount());
          List<SqlValue> arguments = PlanArguments.values(plan.arguments(), parameters);
          runner.onWorker(Workers.Kind.FILES, answer, () -> administer(plan, arguments));
        });
    return null;
  }

  private void administer(Plan.Administer plan, List<SqlValue> arguments) throws SQLException {
    service
        .administration()
        .run(plan.procedure(), arguments)
        .thenRun(
            () ->
                runner.onWorker(
                    answer,
                    () -> query(plan.procedure().resultSql(), SqlValue.encodeFirst(List.of(), 0))))
        .exceptionally(failure -> notAdministered(plan, failure));
  }

  private @Nullable Void notAdministered(Plan.Administer plan, Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    if (cause instanceof NotLeadingException) {
      answer.accept(notLeader());
    } else if (cause instanceof MembershipException refused) {
      answer.accept(
          new Reply.Failure(SqlState.ADMINISTRATION, requireNonNull(refused.getMessage())));
    } else if (cause instanceof SnapshotUnavailableException unavailable) {
      answer.accept(Replies.of(unavailable));
    } else {
      runner.onWorker(
          answer,
          () -> {
            throw new IllegalStateException(plan.procedure() + " failed", cause);
          });
    }
    return null;
  }

  @Override
  public Void nothing(Plan.Nothing plan) {
    answer.accept(Replies.updated(0));
    return null;
  }

  private void acceptOnly(boolean accepted, String otherwise) {
    answer.accept(accepted ? Replies.updated(0) : Replies.notSupported(otherwise));
  }

  @Override
  public Void transaction(Plan.Transaction plan) {
    TransactionScope mode = Operations.mode(request);
    switch (plan.kind()) {
      case COMMIT -> propose(new Operation.EndTransaction(true), Replies::of);
      case ROLLBACK -> propose(new Operation.EndTransaction(false), Replies::of);
      case BEGIN ->
          acceptOnly(
              mode != TransactionScope.AUTOCOMMIT,
              "a transaction begins by itself once autocommit is off: call"
                  + " Connection.setAutoCommit(false)");
      // a savepoint ends with its transaction, as in H2
      case RELEASE -> answer.accept(Replies.updated(0));
      case SAVEPOINT, ROLLBACK_TO -> {
        boolean rollback = plan.kind() == Plan.Transaction.Kind.ROLLBACK_TO;
        if (mode == TransactionScope.AUTOCOMMIT) {
          // as in H2: outside a transaction a savepoint is gone at once
          answer.accept(
              rollback
                  ? Replies.of(SqlErrors.noSavepoint(requireNonNull(plan.savepoint())))
                  : Replies.updated(0));
        } else {
          String name = requireNonNull(plan.savepoint());
          propose(new Operation.MarkSavepoint(rollback, name, mode), Replies::of);
        }
      }
    }
    return null;
  }

  /**
   * Returns the session if a query has to see the rows of its transaction, else null.
   *
   * @throws SQLException if the transaction has ended since the statement was sent: the query must
   *     not see the committed rows instead
   */
  private @Nullable SessionId transactionToRead() throws SQLException {
    SessionId open = transaction();
    if (open == null && Operations.mode(request) != TransactionScope.AUTOCOMMIT) {
      Facts.SessionFacts state = service.replica().facts().session(session.id());
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

  /** Returns the session if it has a transaction whose rows a query has to see, else null. */
  private @Nullable SessionId transaction() {
    Facts.SessionFacts found = service.replica().facts().session(session.id());
    return found == null || !found.inTransaction() ? null : session.id();
  }

  /** Runs the work once the session's queries may see this node's state. */
  private void withReadAccess(Runnable work) {
    ReadConsistency consistency = session.options().readConsistency();
    boolean inTransaction = Operations.mode(request) != TransactionScope.AUTOCOMMIT;
    runner.withState(
        consistency == ReadConsistency.ANY && inTransaction ? ReadConsistency.LEADER : consistency,
        answer,
        work);
  }

  /**
   * Sends an operation through the log, and answers when it has its outcome.
   *
   * @param reply returns null if the reply comes later
   */
  private void propose(Operation operation, Function<Outcome, @Nullable Reply> reply) {
    if (mayBegin(operation) && transaction() == null) {
      service.beginTransaction(() -> submit(operation, reply), this::busy);
    } else {
      submit(operation, reply);
    }
  }

  private boolean mayBegin(Operation operation) {
    return Operations.mode(request) != TransactionScope.AUTOCOMMIT
        && (operation instanceof Operation.ExecuteSql
            || operation instanceof Operation.BeginTransaction
            || operation instanceof Operation.MarkSavepoint);
  }

  private void submit(Operation operation, Function<Outcome, @Nullable Reply> reply) {
    RequestId id = new RequestId(session.id(), request.sequence());
    service
        .pipeline()
        .submit(
            new Command.Perform(
                session.id(), request.sequence(), operation, RequestContent.of(request)),
            new Proposal.Listener() {
              @Override
              public void applied(Outcome outcome) {
                if (outcome instanceof Outcome.Waiting) {
                  awaitGrant(id, reply);
                } else {
                  answer(reply, outcome);
                }
              }

              @Override
              public void unknown() {
                answer.accept(notLeader());
              }

              @Override
              public void refused(String why) {
                busy(why);
              }
            });
  }

  private void busy(String why) {
    answer.accept(new Reply.Failure(SqlState.BUSY, why));
  }

  private void awaitGrant(RequestId id, Function<Outcome, @Nullable Reply> reply) {
    service.await(
        id,
        new ClientService.Waiter() {
          @Override
          public void completed(Outcome outcome) {
            answer(reply, outcome);
          }

          @Override
          public void abandoned() {
            answer.accept(notLeader());
          }
        });
  }

  /** Answers the client whatever happens, and lets the apply thread go on. */
  private void answer(Function<Outcome, @Nullable Reply> reply, Outcome outcome) {
    Reply made;
    try {
      made = reply.apply(outcome);
    } catch (RuntimeException e) {
      made = runner.unexpected(e);
    }
    if (made != null) {
      answer.accept(made);
    }
  }

  private void attempt(Attempt attempt) {
    try {
      attempt.run();
    } catch (SQLException e) {
      service.replica().stopIfClassesAreLost(e);
      answer.accept(Replies.of(e));
    } catch (WireFormatException e) {
      answer.accept(Replies.of(e));
    }
  }

  private void result(byte[] body) {
    answer.accept(new Reply.Result(body));
  }

  private Reply.NotLeader notLeader() {
    return new Reply.NotLeader(service.clusterView());
  }

  private byte[] onlySet() throws SQLException {
    if (request.batch()) {
      throw SqlErrors.exception(
          SqlState.NOT_SUPPORTED, "a batch runs statements that change rows, and no others");
    }
    return request.parameterSets().get(0);
  }
}
