package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.sql.Plan;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.store.h2.SqlValue;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.SqlState;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Carries out statements: knows for each kind of plan whether the statement goes through the log,
 * to a query, or needs neither. Each plan ends in exactly one reply. Thread-safe; nothing here
 * waits.
 */
final class StatementExecution {
  /** How the text of the end of a transaction begins. */
  private static final Pattern END =
      Pattern.compile("\\s*+(COMMIT|ROLLBACK)\\b", Pattern.CASE_INSENSITIVE);

  private final StatementProposals proposals;
  private final ReadAccess access;
  private final StatementQueries queries;
  private final LockStatements lockStatements;
  private final ProcedureStatements procedureStatements;
  private final Admission admission;
  private final AccountStatements accounts;
  private final RequestWork work;

  StatementExecution(
      StatementProposals proposals,
      ReadAccess access,
      StatementQueries queries,
      LockStatements lockStatements,
      ProcedureStatements procedureStatements,
      Admission admission,
      AccountStatements accounts,
      RequestWork work) {
    this.proposals = requireNonNull(proposals, "proposals");
    this.access = requireNonNull(access, "access");
    this.queries = requireNonNull(queries, "queries");
    this.lockStatements = requireNonNull(lockStatements, "lockStatements");
    this.procedureStatements = requireNonNull(procedureStatements, "procedureStatements");
    this.admission = requireNonNull(admission, "admission");
    this.accounts = requireNonNull(accounts, "accounts");
    this.work = requireNonNull(work, "work");
  }

  void run(ReceivedStatement statement, Plan plan) {
    plan.handledBy(new ByKind(statement));
  }

  /**
   * Plans a statement on another thread, unless the client cancels the statement before. Only the
   * leader can tell that a write was not carried out before, so another node plans it all the same.
   * The end of a transaction is never canceled.
   */
  void inTurn(ReceivedStatement statement, Workers.Kind kind, RequestWork.Task planning) {
    Runnable anyway = () -> work.inTurn(statement, kind, planning);
    if (access.isLeader() && !END.matcher(statement.request().sql()).lookingAt()) {
      work.inTurn(statement, kind, planning, () -> proposals.cancel(statement.number(), anyway));
    } else {
      anyway.run();
    }
  }

  /** Carries out one statement by the kind of its plan. */
  private final class ByKind implements Plan.Handler<Void> {
    private final ReceivedStatement statement;

    ByKind(ReceivedStatement statement) {
      this.statement = statement;
    }

    private void attempt(RequestWork.Task task) {
      work.attempt(statement.answer(), task);
    }

    @Override
    public Void read(Plan.Read plan) {
      attempt(
          () -> {
            byte[] set =
                Parameters.first(
                    statement.onlySet(), plan.sqlParameterCount(), plan.parameterCount());
            RequestWork.Task query =
                () -> {
                  if (!queries.runUnlessTimed(statement, plan.sql(), set)) {
                    // all statements of a transaction see one time, which its beginning makes
                    access.begin(
                        statement, () -> inTurn(() -> queries.run(statement, plan.sql(), set)));
                  }
                };
            access.withState(statement, () -> access.inTransaction(statement, () -> inTurn(query)));
          });
      return null;
    }

    private void inTurn(RequestWork.Task query) {
      work.inTurn(
          statement, Workers.Kind.QUERIES, query, () -> statement.reply(Replies.canceled()));
    }

    @Override
    public Void lockCall(Plan.LockCall plan) {
      lockStatements.run(statement, plan);
      return null;
    }

    @Override
    public Void write(Plan.Write plan) {
      attempt(
          () -> {
            Operation.ExecuteSql write = Operations.write(plan, statement.request());
            admission.admit(
                statement.number(),
                statement.session(),
                statement.losses(),
                statement.results(),
                List.of(new Admission.Write(statement.request().sql(), plan, write)),
                () -> proposals.propose(statement, write));
          });
      return null;
    }

    @Override
    public Void fenceTable(Plan.FenceTable plan) {
      attempt(
          () ->
              proposals.propose(
                  statement, Operations.fenceTable(plan, statement.request().ownLeaseTrusted())));
      return null;
    }

    @Override
    public Void unfenceTable(Plan.UnfenceTable plan) {
      proposals.propose(
          statement, Operations.unfenceTable(plan, statement.request().ownLeaseTrusted()));
      return null;
    }

    @Override
    public Void presentToken(Plan.PresentToken plan) {
      attempt(
          () -> {
            List<SqlValue> parameters =
                Parameters.decode(statement.onlySet(), plan.parameterCount());
            proposals.propose(
                statement, Operations.presentToken(plan.lock(), plan.token(), parameters));
          });
      return null;
    }

    @Override
    public Void fenceSession(Plan.FenceSession plan) {
      attempt(
          () -> {
            List<SqlValue> parameters =
                Parameters.decode(statement.onlySet(), plan.parameterCount());
            proposals.propose(statement, Operations.fenceSession(plan.fence(), parameters));
          });
      return null;
    }

    @Override
    public Void configureLock(Plan.ConfigureLock plan) {
      attempt(
          () -> {
            List<SqlValue> parameters =
                Parameters.decode(statement.onlySet(), plan.parameterCount());
            proposals.propose(statement, Operations.configureLock(plan, parameters));
          });
      return null;
    }

    @Override
    public Void configureUser(Plan.ConfigureUser plan) {
      attempt(
          () -> {
            List<SqlValue> parameters =
                Parameters.decode(statement.onlySet(), plan.parameterCount());
            // a verifier takes a tenth of a second to compute
            work.inTurn(
                statement,
                Workers.Kind.PASSWORDS,
                () ->
                    proposals.propose(
                        statement, accounts.configure(plan, statement.session(), parameters)));
          });
      return null;
    }

    @Override
    public Void configureRight(Plan.ConfigureRight plan) {
      attempt(
          () -> {
            List<SqlValue> parameters =
                Parameters.decode(statement.onlySet(), plan.parameterCount());
            proposals.propose(statement, Operations.configureRight(plan, parameters));
          });
      return null;
    }

    @Override
    public Void setSession(Plan.SetSession plan) {
      attempt(
          () -> {
            List<SqlValue> parameters =
                Parameters.decode(statement.onlySet(), plan.parameterCount());
            String text = PlanArguments.value(plan.value(), parameters).textOrNull();
            switch (plan.setting()) {
              case SCHEMA ->
                  proposals.propose(
                      statement,
                      new Operation.SetSchema(PlanArguments.schemaName(plan.value(), parameters)));
              case LOCK_TIMEOUT ->
                  proposals.propose(statement, PlanArguments.lockTimeout(plan.value(), parameters));
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
                  proposals.propose(
                      statement,
                      PlanArguments.timeZone(plan.value(), parameters),
                      outcome ->
                          outcome instanceof Outcome.Done
                              ? proposals.timeZone(statement.number())
                              : Replies.of(outcome));
            }
          });
      return null;
    }

    @Override
    public Void administer(Plan.Administer plan) {
      if (!accounts.isAdministrator(statement.session())) {
        statement.reply(
            new Reply.Failure(
                SqlState.RIGHT_MISSING,
                "only an administrator may call "
                    + plan.procedure()
                    + ", and user "
                    + statement.session().user()
                    + " is none"));
        return null;
      }
      procedureStatements.run(statement, plan);
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
        case COMMIT -> proposals.propose(statement, new Operation.EndTransaction(true));
        case ROLLBACK -> proposals.propose(statement, new Operation.EndTransaction(false));
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
            proposals.propose(statement, new Operation.MarkSavepoint(rollback, name, mode));
          }
        }
      }
      return null;
    }
  }
}
