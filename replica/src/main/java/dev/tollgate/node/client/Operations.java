package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.FenceReading;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LockDefinition;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Payload;
import dev.tollgate.core.command.Right;
import dev.tollgate.core.command.SeriesEnd;
import dev.tollgate.core.command.TableName;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.sql.Argument;
import dev.tollgate.sql.LockFunction;
import dev.tollgate.sql.ObjectName;
import dev.tollgate.sql.Plan;
import dev.tollgate.sql.StatementFence;
import dev.tollgate.sql.Target;
import dev.tollgate.sql.WriteKind;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.store.h2.SqlValue;
import dev.tollgate.store.schema.LockArguments;
import dev.tollgate.wire.KeyRequest;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SeriesEnding;
import dev.tollgate.wire.SqlState;
import dev.tollgate.wire.TransactionMode;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Makes the operation that goes into the log, from a plan and a request. */
final class Operations {
  private Operations() {}

  /**
   * The operation of a statement that changes something.
   *
   * @throws SQLException if the parameters do not fit
   */
  static Operation.ExecuteSql write(Plan.Write plan, Request.Execute request) throws SQLException {
    if (request.parameterSets().size() > Protocol.MAX_BATCH_SETS) {
      throw SqlErrors.invalid(
          "a batch of "
              + request.parameterSets().size()
              + " parameter sets: at most "
              + Protocol.MAX_BATCH_SETS
              + " go in one");
    }
    if (plan.lockedBy() != null && scope(request.mode()) != TransactionScope.AUTOCOMMIT) {
      throw SqlErrors.exception(
          SqlState.ACTIVE_TRANSACTION,
          "LOCKED BY is for a statement outside of transactions, because the lock ends with the"
              + " statement: in a transaction, call acquire_transaction_lock first");
    }
    List<Operation.ParameterSet> sets = new ArrayList<>(request.parameterSets().size());
    for (byte[] set : request.parameterSets()) {
      sets.add(parameterSet(plan, set));
    }
    return new Operation.ExecuteSql(
        plan.sql(),
        plan.kind() == WriteKind.DDL,
        targets(plan.targets()),
        sets,
        request.batch(),
        plan.returnsRows(),
        keys(request.keys()),
        request.maxRows(),
        binding(plan.tableFence()),
        request.ownLeaseTrusted(),
        scope(request.mode()));
  }

  private static Operation.ParameterSet parameterSet(Plan.Write plan, byte[] set)
      throws SQLException {
    List<SqlValue> values = Parameters.decode(set, plan.parameterCount());
    return new Operation.ParameterSet(
        Payload.of(Parameters.first(set, values, plan.sqlParameterCount())),
        PlanArguments.fence(plan.fence(), values),
        PlanArguments.lockOrNull(plan.lockedBy(), values));
  }

  /**
   * The operation of a statement of a series.
   *
   * @throws SQLException if the parameters do not fit, or the statement cannot be part of a series
   */
  static Operation.ExecuteSql inSeries(Plan plan, byte[] set, Request.ExecuteSeries request)
      throws SQLException {
    if (!(plan instanceof Plan.Write write)
        || write.kind() == WriteKind.DDL
        || write.returnsRows()
        || write.lockedBy() != null) {
      throw SqlErrors.exception(
          SqlState.NOT_SUPPORTED,
          "only INSERT, UPDATE, DELETE and MERGE without LOCKED BY run in a series, and a definition"
              + " behind them if the series commits: send the statement by itself");
    }
    return new Operation.ExecuteSql(
        write.sql(),
        /* definition= */ false,
        targets(write.targets()),
        List.of(parameterSet(write, set)),
        /* batch= */ true,
        /* returnsRows= */ false,
        new Operation.WantedKeys.None(),
        /* maxRows= */ 0,
        binding(write.tableFence()),
        request.ownLeaseTrusted(),
        scope(request.mode()));
  }

  /**
   * The operation of a definition at the end of a series, or null if the statement is none.
   *
   * @param own the operation of such a statement alone, where this class does not make it
   * @throws SQLException if the parameters do not fit
   */
  static @Nullable Operation definition(
      Plan plan, byte[] set, Request.ExecuteSeries request, UserChange own) throws SQLException {
    boolean trusted = request.ownLeaseTrusted();
    if (plan instanceof Plan.Write write && write.kind() == WriteKind.DDL) {
      return new Operation.ExecuteSql(
          write.sql(),
          /* definition= */ true,
          targets(write.targets()),
          List.of(parameterSet(write, set)),
          /* batch= */ false,
          write.returnsRows(),
          new Operation.WantedKeys.None(),
          /* maxRows= */ 0,
          binding(write.tableFence()),
          trusted,
          scope(request.mode()));
    }
    if (plan instanceof Plan.FenceTable fence) {
      return fenceTable(fence, trusted);
    }
    if (plan instanceof Plan.UnfenceTable unfence) {
      return unfenceTable(unfence, trusted);
    }
    List<SqlValue> values = Parameters.decode(set, plan.parameterCount());
    if (plan instanceof Plan.ConfigureLock lock) {
      return configureLock(lock, values);
    }
    if (plan instanceof Plan.ConfigureRight right) {
      return configureRight(right, values);
    }
    return plan instanceof Plan.ConfigureUser user ? own.of(user, values) : null;
  }

  /** Makes the operation of a change of a user. */
  interface UserChange {
    Operation of(Plan.ConfigureUser plan, List<SqlValue> values) throws SQLException;
  }

  /** The end of a series in the log. */
  static SeriesEnd end(SeriesEnding ending) {
    return switch (ending) {
      case RUN_ALL -> SeriesEnd.RUN_ALL;
      case STOP_AT_FAILURE -> SeriesEnd.STOP_AT_FAILURE;
      case COMMIT -> SeriesEnd.COMMIT;
    };
  }

  /** The transaction scope of a statement. */
  static TransactionScope scope(TransactionMode mode) {
    return switch (mode) {
      case AUTOCOMMIT -> TransactionScope.AUTOCOMMIT;
      case READ_COMMITTED -> TransactionScope.READ_COMMITTED;
      case SERIALIZABLE -> TransactionScope.SERIALIZABLE;
    };
  }

  /**
   * The operation of a lock function that changes leases or locks.
   *
   * @param lockWaitMillis how long acquire_lock waits if the call does not say
   * @param self the owner of a lease if the call does not say
   * @param scope the transaction scope of the call
   * @throws SQLException naming the argument that is wrong
   */
  static Operation lockCall(
      LockFunction function,
      List<SqlValue> values,
      long lockWaitMillis,
      String self,
      TransactionScope scope)
      throws SQLException {
    SqlValue first = values.get(0);
    SqlValue second = values.size() > 1 ? values.get(1) : null;
    SqlValue third = values.size() > 2 ? values.get(2) : null;
    return switch (function) {
      case CREATE_LEASE -> LockArguments.createLease(first, second, self);
      case REVOKE_LEASE -> LockArguments.revoke(first);
      case ACQUIRE_LOCK ->
          LockArguments.acquire(first, second, third, LockMode.EXCLUSIVE, lockWaitMillis);
      case ACQUIRE_SHARED_LOCK ->
          LockArguments.acquire(first, second, third, LockMode.SHARED, lockWaitMillis);
      case TRY_ACQUIRE_LOCK -> LockArguments.acquire(first, second, null, LockMode.EXCLUSIVE, 0);
      case TRY_ACQUIRE_SHARED_LOCK ->
          LockArguments.acquire(first, second, null, LockMode.SHARED, 0);
      case ACQUIRE_LOCKS -> LockArguments.acquireAll(first, second, third, lockWaitMillis);
      case TRY_ACQUIRE_LOCKS -> LockArguments.acquireAll(first, second, null, 0);
      case RELEASE_LOCK ->
          second == null || third == null
              ? LockArguments.release(first, second)
              : LockArguments.releaseAndKeep(first, second, third);
      case TRANSFER_LOCK ->
          LockArguments.transfer(
              first, requireNonNull(second, "from_lease"), requireNonNull(third, "to_lease"));
      case ACQUIRE_TRANSACTION_LOCK ->
          LockArguments.acquireForTransaction(first, second, scope, lockWaitMillis);
      case FORCE_RELEASE_LOCK -> LockArguments.forceRelease(first);
      case RENEW_LEASE, HOLDS_LOCK, LOCK_TOKEN ->
          throw new IllegalArgumentException(function + " is no entry of the log");
    };
  }

  /**
   * The operation of CREATE, ALTER and DROP LOCK.
   *
   * @throws SQLException if the lock name or the number of permits is invalid
   */
  static Operation configureLock(Plan.ConfigureLock plan, List<SqlValue> parameters)
      throws SQLException {
    SqlValue lock = PlanArguments.value(plan.lock(), parameters);
    Argument permits = plan.permits();
    if (permits == null) {
      return new Operation.DropLock(LockArguments.lockName(lock), plan.lenient());
    }
    LockDefinition definition =
        LockArguments.definition(lock, PlanArguments.value(permits, parameters));
    return plan.change() == Plan.ConfigureLock.Change.CREATE
        ? new Operation.DefineLock(definition, plan.lenient())
        : new Operation.ChangeLock(definition, plan.lenient());
  }

  /**
   * The operation of GRANT and REVOKE of a right that the database knows nothing of.
   *
   * @throws SQLException if the pattern is invalid
   */
  static Operation configureRight(Plan.ConfigureRight plan, List<SqlValue> parameters)
      throws SQLException {
    Argument pattern = plan.pattern();
    ObjectName sequence = plan.sequence();
    Right.Kind kind =
        switch (plan.right()) {
          case LOCK -> Right.Kind.LOCK;
          case FORCE -> Right.Kind.FORCE;
          case SEQUENCE -> Right.Kind.SEQUENCE;
          case AUDIT -> Right.Kind.AUDIT;
          case MANAGE -> Right.Kind.MANAGE;
        };
    if (kind.isOnAll()) {
      return new Operation.ChangeRight(
          plan.grant(), new Right(kind, /* schema= */ null, Right.ALL, plan.grantee()));
    }
    if (sequence != null) {
      String schema = sequence.schema();
      return new Operation.ChangeRight(
          plan.grant(),
          new Right(kind, schema == null ? "" : schema, sequence.name(), plan.grantee()));
    }
    String names = pattern == null ? null : PlanArguments.value(pattern, parameters).textOrNull();
    if (names == null || !Right.isPattern(names)) {
      throw SqlErrors.invalid(
          "a pattern of lock names has 1 to " + 2 * Limits.LOCK_NAME_CHARS + " characters");
    }
    return new Operation.ChangeRight(
        plan.grant(), new Right(kind, /* schema= */ null, names, plan.grantee()));
  }

  /**
   * The operation of SET FENCING TOKEN.
   *
   * @throws SQLException if the lock name or the token is invalid
   */
  static Operation.PresentToken presentToken(
      Argument lock, Argument token, List<SqlValue> parameters) throws SQLException {
    SqlValue shown = PlanArguments.value(token, parameters);
    return new Operation.PresentToken(
        LockArguments.lockName(PlanArguments.value(lock, parameters)),
        shown.isNull() ? null : (Long) LockArguments.token(shown));
  }

  /**
   * The operation of SET FENCED and SET NOT FENCED.
   *
   * @throws SQLException if the lock name or the token is invalid
   */
  static Operation.FenceSession fenceSession(
      @Nullable StatementFence fence, List<SqlValue> parameters) throws SQLException {
    Operation.StatementFence stated = PlanArguments.fence(fence, parameters);
    return new Operation.FenceSession(stated == null ? null : stated.presented());
  }

  static Operation.FenceTable fenceTable(Plan.FenceTable plan, boolean ownLeaseTrusted)
      throws SQLException {
    Operation.FenceTerms fence = requireNonNull(binding(plan.fence()));
    return new Operation.FenceTable(table(plan.table()), fence, null, ownLeaseTrusted);
  }

  static Operation.UnfenceTable unfenceTable(Plan.UnfenceTable plan, boolean ownLeaseTrusted) {
    return new Operation.UnfenceTable(table(plan.table()), null, ownLeaseTrusted);
  }

  private static List<Operation.DefinitionTarget> targets(List<Target> targets) {
    List<Operation.DefinitionTarget> converted = new ArrayList<>(targets.size());
    for (Target target : targets) {
      Operation.DefinitionTarget.Kind kind =
          switch (target.kind()) {
            case TABLE -> Operation.DefinitionTarget.Kind.TABLE;
            case INDEX -> Operation.DefinitionTarget.Kind.INDEX;
            case SCHEMA -> Operation.DefinitionTarget.Kind.SCHEMA;
            case CONSTRAINT -> Operation.DefinitionTarget.Kind.CONSTRAINT;
            case VIEW, SEQUENCE, DOMAIN, CONSTANT, ROLE -> Operation.DefinitionTarget.Kind.OTHER;
          };
      converted.add(new Operation.DefinitionTarget(kind, table(target.name())));
    }
    return converted;
  }

  private static TableName table(dev.tollgate.sql.ObjectName name) {
    return new TableName(name.schema(), name.name());
  }

  private static Operation.@Nullable FenceTerms binding(dev.tollgate.sql.@Nullable TableFence fence)
      throws SQLException {
    if (fence == null) {
      return null;
    }
    if (fence instanceof dev.tollgate.sql.TableFence.LockPerRow perRow) {
      return rowFence(perRow.expressionSql());
    }
    var oneLock = (dev.tollgate.sql.TableFence.OneLock) fence;
    FenceReading reading =
        switch (oneLock.reading()) {
          case HELD -> FenceReading.HELD;
          case MONOTONIC -> FenceReading.MONOTONIC;
        };
    return new Operation.TableFence(new LockName(oneLock.lockName()), reading);
  }

  private static Operation.RowFence rowFence(String lockSql) throws SQLException {
    if (lockSql.length() > Limits.ROW_LOCK_CHARS) {
      throw SqlErrors.invalid(
          "the expression that names the lock of a row has "
              + lockSql.length()
              + " characters: at most "
              + Limits.ROW_LOCK_CHARS
              + " are allowed");
    }
    return new Operation.RowFence(lockSql);
  }

  private static Operation.WantedKeys keys(KeyRequest keys) {
    if (keys instanceof KeyRequest.Positions columns) {
      return new Operation.WantedKeys.Positions(columns.positions());
    }
    if (keys instanceof KeyRequest.Names columns) {
      return new Operation.WantedKeys.Names(columns.names());
    }
    return keys instanceof KeyRequest.Generated
        ? new Operation.WantedKeys.Generated()
        : new Operation.WantedKeys.None();
  }
}
