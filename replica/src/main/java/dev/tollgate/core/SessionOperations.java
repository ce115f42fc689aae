package dev.tollgate.core;

import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LockDefinition;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.Right;
import dev.tollgate.core.command.TimeZoneName;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.core.command.UserAccount;
import dev.tollgate.core.command.UserName;
import java.util.function.Supplier;

/** The operations of one session, carried out at the position of the current command. */
final class SessionOperations implements Operation.Handler<Outcome> {
  private final Session session;
  private final Locking locking;
  private final LockConfiguration configuration;
  private final Transactions transactions;
  private final SqlStore store;
  private final Rights rights;
  private final Accounts accounts;
  private final EventRecorder audit;

  SessionOperations(
      Session session,
      Locking locking,
      LockConfiguration configuration,
      Transactions transactions,
      SqlStore store,
      Rights rights,
      Accounts accounts,
      EventRecorder audit) {
    this.session = session;
    this.locking = locking;
    this.configuration = configuration;
    this.transactions = transactions;
    this.store = store;
    this.rights = rights;
    this.accounts = accounts;
    this.audit = audit;
  }

  @Override
  public Outcome createLease(Operation.CreateLease operation) {
    return locking.createLease(session, operation);
  }

  @Override
  public Outcome revokeLease(Operation.RevokeLease operation) {
    return locking.revokeLease(session, operation);
  }

  @Override
  public Outcome acquire(Operation.AcquireLock operation) {
    return locking.acquire(session, operation);
  }

  @Override
  public Outcome acquireAll(Operation.AcquireLocks operation) {
    return locking.acquireAll(session, operation);
  }

  @Override
  public Outcome acquireForTransaction(Operation.AcquireTransactionLock operation) {
    return transactions.run(
        new PendingStatement(session, operation, operation.mode(), /* definition= */ false),
        operation.waitMillis());
  }

  @Override
  public Outcome transfer(Operation.TransferLock operation) {
    return locking.transfer(session, operation);
  }

  @Override
  public Outcome defineLock(Operation.DefineLock operation) {
    return configured(
        "create_lock", text(operation.definition()), () -> configuration.define(operation));
  }

  @Override
  public Outcome changeLock(Operation.ChangeLock operation) {
    return configured(
        "alter_lock", text(operation.definition()), () -> configuration.change(operation));
  }

  @Override
  public Outcome dropLock(Operation.DropLock operation) {
    return configured("drop_lock", operation.lock().value(), () -> configuration.drop(operation));
  }

  private Outcome configured(String action, String object, Supplier<Outcome> change) {
    Outcome.Refused refused = rights.defineLocks(session);
    return audit.administered(session, action, object, refused == null ? change.get() : refused);
  }

  private static String text(LockDefinition definition) {
    return definition.lock() + " permits " + definition.permits();
  }

  @Override
  public Outcome createUser(Operation.CreateUser operation) {
    UserAccount account = operation.account();
    String object = account.name() + (account.administrator() ? " admin" : "");
    return audit.administered(session, "create_user", object, accounts.create(session, operation));
  }

  @Override
  public Outcome alterUser(Operation.AlterUser operation) {
    UserName user = operation.user() == null ? session.user() : operation.user();
    String object = user + " " + operation.change() + validity(operation);
    return audit.administered(session, "alter_user", object, accounts.alter(session, operation));
  }

  private static String validity(Operation.AlterUser operation) {
    return operation.change() != Operation.AlterUser.Change.LIMIT_VALIDITY
        ? ""
        : operation.validUntilMicros() == UserAccount.ALWAYS
            ? " always"
            : " until " + operation.validUntilMicros() + " us";
  }

  @Override
  public Outcome dropUser(Operation.DropUser operation) {
    return audit.administered(
        session, "drop_user", operation.user().value(), accounts.drop(session, operation));
  }

  @Override
  public Outcome changeRight(Operation.ChangeRight operation) {
    Right right = operation.right();
    return audit.administered(
        session,
        operation.grant() ? "grant" : "revoke",
        right.what() + " " + right.grantee(),
        accounts.change(session, operation));
  }

  @Override
  public Outcome release(Operation.ReleaseLock operation) {
    return locking.release(session, operation);
  }

  @Override
  public Outcome forceRelease(Operation.ForceReleaseLock operation) {
    return locking.forceRelease(session, operation);
  }

  @Override
  public Outcome presentToken(Operation.PresentToken operation) {
    Long token = operation.token();
    if (token == null) {
      session.stopPresenting(operation.lock());
    } else if (!session.presented().containsKey(operation.lock())
        && session.presented().size() >= Limits.TOKENS_PER_SESSION) {
      return new Outcome.Refused(
          RefusalCode.LIMIT_REACHED,
          "the session presents "
              + Limits.TOKENS_PER_SESSION
              + " fencing tokens already: SET FENCING TOKEN NULL FOR LOCK of those that it no"
              + " longer needs");
    } else {
      session.present(operation.lock(), token);
    }
    return new Outcome.Done();
  }

  @Override
  public Outcome fenceSession(Operation.FenceSession operation) {
    session.setFence(operation.fence());
    return new Outcome.Done();
  }

  @Override
  public Outcome setSchema(Operation.SetSchema operation) {
    if (!store.hasSchema(operation.schema())) {
      return new Outcome.SqlFailed(
          "90079", 90079, "Schema \"" + operation.schema() + "\" not found");
    }
    session.setSchema(operation.schema());
    return new Outcome.Done();
  }

  @Override
  public Outcome setLockTimeout(Operation.SetLockTimeout operation) {
    session.setLockTimeoutMillis(operation.millis());
    return new Outcome.Done();
  }

  @Override
  public Outcome setTimeZone(Operation.SetTimeZone operation) {
    TimeZoneName zone = operation.zone();
    session.setTimeZone(zone == null ? session.openingTimeZone() : zone);
    return new Outcome.Done();
  }

  @Override
  public Outcome execute(Operation.ExecuteSql operation) {
    return transact(operation, operation.mode(), operation.definition());
  }

  @Override
  public Outcome executeSeries(Operation.ExecuteSeries operation) {
    return transact(operation, operation.mode(), /* definition= */ false);
  }

  @Override
  public Outcome defineMarked(Operation.DefineMarked operation) {
    return transact(operation, operation.mode(), /* definition= */ true);
  }

  @Override
  public Outcome fenceTable(Operation.FenceTable operation) {
    return transact(operation, TransactionScope.AUTOCOMMIT, /* definition= */ true);
  }

  @Override
  public Outcome unfenceTable(Operation.UnfenceTable operation) {
    return transact(operation, TransactionScope.AUTOCOMMIT, /* definition= */ true);
  }

  @Override
  public Outcome begin(Operation.BeginTransaction operation) {
    return transact(operation, operation.mode(), /* definition= */ false);
  }

  @Override
  public Outcome savepoint(Operation.MarkSavepoint operation) {
    return transact(operation, operation.mode(), /* definition= */ false);
  }

  @Override
  public Outcome end(Operation.EndTransaction operation) {
    return transactions.end(session, operation.commit());
  }

  private Outcome transact(Operation operation, TransactionScope mode, boolean definition) {
    return transactions.run(
        new PendingStatement(session, operation, mode, definition), session.lockTimeoutMillis());
  }
}
