package dev.tollgate.core.command;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** What a session asks for, executed at most once as part of {@link Command.Perform}. */
public sealed interface Operation {
  /** Calls the method of {@code handler} that fits this operation. */
  <R> R handledBy(Handler<R> handler);

  /** One method per operation, so that a new operation does not compile until it is handled. */
  interface Handler<R> {
    R createLease(CreateLease operation);

    R revokeLease(RevokeLease operation);

    R acquire(AcquireLock operation);

    R acquireAll(AcquireLocks operation);

    R acquireForTransaction(AcquireTransactionLock operation);

    R release(ReleaseLock operation);

    R transfer(TransferLock operation);

    R defineLock(DefineLock operation);

    R changeLock(ChangeLock operation);

    R dropLock(DropLock operation);

    R forceRelease(ForceReleaseLock operation);

    R presentToken(PresentToken operation);

    R fenceSession(FenceSession operation);

    R setSchema(SetSchema operation);

    R execute(ExecuteSql operation);

    R executeSeries(ExecuteSeries operation);

    R defineMarked(DefineMarked operation);

    R fenceTable(FenceTable operation);

    R unfenceTable(UnfenceTable operation);

    R begin(BeginTransaction operation);

    R end(EndTransaction operation);

    R savepoint(MarkSavepoint operation);

    R setLockTimeout(SetLockTimeout operation);

    R setTimeZone(SetTimeZone operation);

    R createUser(CreateUser operation);

    R alterUser(AlterUser operation);

    R dropUser(DropUser operation);

    R changeRight(ChangeRight operation);
  }

  private static void requireWait(long waitMillis) {
    if (waitMillis < 0 || waitMillis > Limits.LOCK_WAIT_MAX_MILLIS) {
      throw new IllegalArgumentException("wait: " + waitMillis + " ms");
    }
  }

  private static void requirePartOfSeries(ExecuteSql statement, TransactionScope mode) {
    if (statement.definition()
        || statement.returnsRows()
        || !statement.batch()
        || statement.parameterSets().size() != 1
        || statement.parameterSets().get(0).lockedBy() != null
        || statement.mode() != mode) {
      throw new IllegalArgumentException("not in a series: " + statement.sql());
    }
  }

  /** Starts a lease that belongs to no connection: it lives as long as a client renews it. */
  record CreateLease(long ttlMillis, String owner) implements Operation {
    public CreateLease {
      requireNonNull(owner, "owner");
      if (ttlMillis < Limits.LEASE_TTL_MIN_MILLIS || ttlMillis > Limits.LEASE_TTL_MAX_MILLIS) {
        throw new IllegalArgumentException("ttl: " + ttlMillis + " ms");
      }
      if (owner.length() > Limits.DESCRIPTION_CHARS) {
        throw new IllegalArgumentException("owner of " + owner.length() + " characters");
      }
      Text.requireWellFormed("owner", owner);
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.createLease(this);
    }
  }

  /** Ends a lease and releases its locks. */
  record RevokeLease(LeaseId lease) implements Operation {
    public RevokeLease {
      requireNonNull(lease, "lease");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.revokeLease(this);
    }
  }

  /**
   * Takes a lock, or stands in its queue.
   *
   * @param lease null for the session's own lease, which is created if it does not exist yet
   * @param waitMillis 0: do not wait. Otherwise how long the leader lets the request stand in the
   *     queue before it proposes {@link Command.EndWait}; the core itself never reads a clock
   */
  record AcquireLock(LockName lock, @Nullable LeaseId lease, LockMode mode, long waitMillis)
      implements Operation {
    public AcquireLock {
      requireNonNull(lock, "lock");
      requireNonNull(mode, "mode");
      requireWait(waitMillis);
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.acquire(this);
    }
  }

  /**
   * Takes several locks exclusively, all in one entry or none, or stands in the queue of each.
   *
   * @param locks 1 to {@link Limits#LOCKS_AT_ONCE} different names
   * @param lease null for the session's own lease, which is created if it does not exist yet
   * @param waitMillis as for {@link AcquireLock}
   */
  record AcquireLocks(List<LockName> locks, @Nullable LeaseId lease, long waitMillis)
      implements Operation {
    public AcquireLocks {
      locks = List.copyOf(locks);
      if (locks.isEmpty() || locks.size() > Limits.LOCKS_AT_ONCE) {
        throw new IllegalArgumentException(locks.size() + " locks");
      }
      if (new TreeSet<>(locks).size() < locks.size()) {
        throw new IllegalArgumentException("a lock twice: " + locks);
      }
      requireWait(waitMillis);
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.acquireAll(this);
    }
  }

  /**
   * Takes a lock exclusively until the session's transaction ends, or stands in its queue; begins
   * the transaction if none is open.
   *
   * @param waitMillis as for {@link AcquireLock}
   */
  record AcquireTransactionLock(LockName lock, long waitMillis, TransactionScope mode)
      implements Operation {
    public AcquireTransactionLock {
      requireNonNull(lock, "lock");
      requireWait(waitMillis);
      if (mode == TransactionScope.AUTOCOMMIT) {
        throw new IllegalArgumentException("a transaction lock in mode " + mode);
      }
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.acquireForTransaction(this);
    }
  }

  /**
   * Releases a lock; the outcome says whether the lease held it.
   *
   * @param keepMillis how long nobody else gets what was released, 0 to {@link
   *     Limits#LOCK_KEEP_MAX_MILLIS}; the leader measures this time
   */
  record ReleaseLock(LockName lock, @Nullable LeaseId lease, long keepMillis) implements Operation {
    public ReleaseLock {
      requireNonNull(lock, "lock");
      if (keepMillis < 0 || keepMillis > Limits.LOCK_KEEP_MAX_MILLIS) {
        throw new IllegalArgumentException("keep: " + keepMillis + " ms");
      }
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.release(this);
    }
  }

  /**
   * Hands a lock over from one lease to another under a new token, past the lock's queue.
   *
   * @param from null for the session's own lease
   * @param to null for the session's own lease, which is created if it does not exist yet
   */
  record TransferLock(LockName lock, @Nullable LeaseId from, @Nullable LeaseId to)
      implements Operation {
    public TransferLock {
      requireNonNull(lock, "lock");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.transfer(this);
    }
  }

  /**
   * CREATE LOCK: lets several leases hold a lock at a time.
   *
   * @param lenient true to answer false instead of refusing if the lock has a definition
   */
  record DefineLock(LockDefinition definition, boolean lenient) implements Operation {
    public DefineLock {
      requireNonNull(definition, "definition");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.defineLock(this);
    }
  }

  /**
   * ALTER LOCK: changes the permits of a lock.
   *
   * @param lenient true to answer false instead of refusing if the lock has no definition
   */
  record ChangeLock(LockDefinition definition, boolean lenient) implements Operation {
    public ChangeLock {
      requireNonNull(definition, "definition");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.changeLock(this);
    }
  }

  /**
   * DROP LOCK: one lease holds the lock at a time again.
   *
   * @param lenient true to answer false instead of refusing if the lock has no definition
   */
  record DropLock(LockName lock, boolean lenient) implements Operation {
    public DropLock {
      requireNonNull(lock, "lock");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.dropLock(this);
    }
  }

  /**
   * CREATE USER.
   *
   * @param lenient true to answer false instead of refusing if the user exists
   */
  record CreateUser(UserAccount account, boolean lenient) implements Operation {
    public CreateUser {
      requireNonNull(account, "account");
      if (account.locked()) {
        throw new IllegalArgumentException("created locked: " + account);
      }
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.createUser(this);
    }
  }

  /**
   * ALTER USER, or SET PASSWORD.
   *
   * @param user null for the session's user
   * @param verifier of the new password; null for changes without one
   * @param workLimit the new work limit, see {@link UserAccount}; 0 for changes without one
   * @param validUntilMicros the new end of the validity, see {@link UserAccount}; 0 for changes
   *     without one
   */
  record AlterUser(
      @Nullable UserName user,
      Change change,
      @Nullable String verifier,
      int workLimit,
      long validUntilMicros)
      implements Operation {

    /** What happens to the user. */
    public enum Change {
      /** The password is the only one from now on. */
      SET_PASSWORD,
      /** As SET_PASSWORD; sessions of the user end, but for the one that asks. */
      SET_PASSWORD_AND_END_SESSIONS,
      /** The password is valid beside the newest one. */
      ADD_PASSWORD,
      /** Only the newest password stays valid. */
      DROP_OLD_PASSWORD,
      MAKE_ADMINISTRATOR,
      MAKE_ORDINARY,
      LIMIT_WORK,
      /** The user may not log in, and its sessions and leases end. */
      LOCK_ACCOUNT,
      UNLOCK_ACCOUNT,
      LIMIT_VALIDITY;

      /** True for a change of which the new password is the only one. */
      public boolean setsPassword() {
        return this == SET_PASSWORD || this == SET_PASSWORD_AND_END_SESSIONS;
      }
    }

    public AlterUser {
      requireNonNull(change, "change");
      boolean needed = change.setsPassword() || change == Change.ADD_PASSWORD;
      if (needed != (verifier != null)) {
        throw new IllegalArgumentException(change + " with or without a password");
      }
      if (verifier != null) {
        UserAccount.requireVerifier(verifier);
      }
      boolean limited = change == Change.LIMIT_WORK;
      if (limited
          ? user == null || workLimit < 1 || workLimit > Limits.FULL_WORK
          : workLimit != 0) {
        throw new IllegalArgumentException(
            change + " of " + user + " with a work limit of " + workLimit);
      }
      if (change == Change.LIMIT_VALIDITY) {
        requireNonNull(user, "user");
        UserAccount.requireTime(validUntilMicros);
      } else if (validUntilMicros != 0) {
        throw new IllegalArgumentException(change + " with a validity");
      }
    }

    /** A change that sets neither a work limit nor a validity. */
    public AlterUser(@Nullable UserName user, Change change, @Nullable String verifier) {
      this(user, change, verifier, 0, 0);
    }

    /** ALTER USER ... WORK LIMIT. */
    public static AlterUser workLimit(UserName user, int percent) {
      return new AlterUser(user, Change.LIMIT_WORK, null, percent, 0);
    }

    /** ALTER USER ... VALID UNTIL. */
    public static AlterUser validUntil(UserName user, long micros) {
      return new AlterUser(user, Change.LIMIT_VALIDITY, null, 0, micros);
    }

    /** The verifier of a change that has one. */
    public String password() {
      return requireNonNull(verifier, "verifier");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.alterUser(this);
    }

    @Override
    public String toString() {
      return change + " of user " + user;
    }
  }

  /**
   * DROP USER: with it end its sessions and leases.
   *
   * @param lenient true to answer false instead of refusing if there is no such user
   */
  record DropUser(UserName user, boolean lenient) implements Operation {
    public DropUser {
      requireNonNull(user, "user");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.dropUser(this);
    }
  }

  /**
   * GRANT or REVOKE of a right on locks or on a sequence.
   *
   * @param right whose schema is empty for a sequence of the session's schema
   */
  record ChangeRight(boolean grant, Right right) implements Operation {
    public ChangeRight {
      requireNonNull(right, "right");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.changeRight(this);
    }
  }

  /** Takes a lock from all its holders; the outcome says whether the lock was held. */
  record ForceReleaseLock(LockName lock) implements Operation {
    public ForceReleaseLock {
      requireNonNull(lock, "lock");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.forceRelease(this);
    }
  }

  /**
   * Has the session present this token with every write, for writers that cannot add a clause to
   * their statements.
   *
   * @param token null to stop presenting a token of this lock
   */
  record PresentToken(LockName lock, @Nullable Long token) implements Operation {
    public PresentToken {
      requireNonNull(lock, "lock");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.presentToken(this);
    }
  }

  /**
   * Fences every write of the session from now on, as if each ended with the clause FENCED BY LOCK
   * name TOKEN token.
   *
   * @param fence null to end that
   */
  record FenceSession(@Nullable PresentedToken fence) implements Operation {
    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.fenceSession(this);
    }
  }

  /** Sets the schema in which the session's unqualified names are looked up. */
  record SetSchema(String schema) implements Operation {
    public SetSchema {
      requireNonNull(schema, "schema");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.setSchema(this);
    }
  }

  /** Executions of statements, one after the other, with nothing else applied in between. */
  sealed interface Executions extends Operation permits ExecuteSql, ExecuteSeries {
    /** How many executions there are. */
    int count();

    /** The statement of an execution. */
    ExecuteSql statement(int execution);

    /** Which parameter set of its statement an execution uses. */
    int parameterSet(int execution);

    /** Returns true if the outcome is an {@link Outcome.Batch}. */
    boolean batch();

    /** Returns true if no execution follows one that failed. */
    boolean stopsAtFailure();

    /** Whether the executions belong to a transaction. */
    TransactionScope mode();
  }

  /**
   * Runs a statement that may change the database.
   *
   * @param sql as the SQL front-end rebuilt it
   * @param definition true for DDL
   * @param targets the objects that DDL names; row changes are caught where they happen
   * @param parameterSets one set, or for a batch one per execution
   * @param batch true if the client asked for a batch, even of one set
   * @param returnsRows true for a query that writes
   * @param keys which generated keys to return
   * @param maxRows most rows to return, 0 for all
   * @param binding what CREATE TABLE binds its table to, or null
   * @param ownLeaseTrusted false if the client can no longer prove that its own lease is alive:
   *     then the session's own lease presents no token (invariant I8)
   * @param mode whether the statement belongs to a transaction of several statements
   */
  record ExecuteSql(
      String sql,
      boolean definition,
      List<DefinitionTarget> targets,
      List<ParameterSet> parameterSets,
      boolean batch,
      boolean returnsRows,
      WantedKeys keys,
      long maxRows,
      @Nullable FenceTerms binding,
      boolean ownLeaseTrusted,
      TransactionScope mode)
      implements Executions {
    public ExecuteSql {
      requireNonNull(sql, "sql");
      requireNonNull(mode, "mode");
      requireNonNull(keys, "keys");
      targets = List.copyOf(targets);
      parameterSets = List.copyOf(parameterSets);
      if (!batch && parameterSets.size() != 1) {
        throw new IllegalArgumentException(parameterSets.size() + " parameter sets");
      }
      if ((definition || mode != TransactionScope.AUTOCOMMIT) && isLocked(parameterSets)) {
        throw new IllegalArgumentException("locked by a lock in mode " + mode);
      }
    }

    private static boolean isLocked(List<ParameterSet> sets) {
      for (ParameterSet set : sets) {
        if (set.lockedBy() != null) {
          return true;
        }
      }
      return false;
    }

    @Override
    public int count() {
      return parameterSets.size();
    }

    @Override
    public ExecuteSql statement(int execution) {
      return this;
    }

    @Override
    public int parameterSet(int execution) {
      return execution;
    }

    @Override
    public boolean stopsAtFailure() {
      return false;
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.execute(this);
    }
  }

  /**
   * Runs several statements that change rows.
   *
   * @param statements 1 to {@link Limits#SERIES_STATEMENTS}, each a batch of one set, all with the
   *     same scope; no definitions, no queries, and none with LOCKED BY
   * @param end {@link SeriesEnd#COMMIT} only within a transaction
   */
  record ExecuteSeries(List<ExecuteSql> statements, SeriesEnd end) implements Executions {
    public ExecuteSeries {
      statements = List.copyOf(statements);
      requireNonNull(end, "end");
      if (statements.isEmpty() || statements.size() > Limits.SERIES_STATEMENTS) {
        throw new IllegalArgumentException("a series of " + statements.size() + " statements");
      }
      TransactionScope mode = statements.get(0).mode();
      for (ExecuteSql statement : statements) {
        requirePartOfSeries(statement, mode);
      }
      if (end == SeriesEnd.COMMIT && mode == TransactionScope.AUTOCOMMIT) {
        throw new IllegalArgumentException("a series that commits outside of a transaction");
      }
    }

    @Override
    public int count() {
      return statements.size();
    }

    @Override
    public ExecuteSql statement(int execution) {
      return statements.get(execution);
    }

    @Override
    public int parameterSet(int execution) {
      return 0;
    }

    @Override
    public boolean batch() {
      return true;
    }

    @Override
    public boolean stopsAtFailure() {
      return end != SeriesEnd.RUN_ALL;
    }

    @Override
    public TransactionScope mode() {
      return statements.get(0).mode();
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.executeSeries(this);
    }
  }

  /**
   * A definition, and changes of rows that say that it was carried out (ADR 0140). All of it takes
   * effect in one command, or nothing does. What the session's transaction has done before is
   * committed first, as by any definition.
   *
   * @param marks statements as in a series, in a transaction; with the definition 2 to {@link
   *     Limits#SERIES_STATEMENTS}
   * @param definition DDL, a fence of a table, or a change of locks, users or rights
   */
  record DefineMarked(List<ExecuteSql> marks, Operation definition) implements Operation {
    public DefineMarked {
      marks = List.copyOf(marks);
      requireNonNull(definition, "definition");
      if (marks.isEmpty() || marks.size() >= Limits.SERIES_STATEMENTS) {
        throw new IllegalArgumentException("a definition with " + marks.size() + " marks");
      }
      TransactionScope mode = marks.get(0).mode();
      for (ExecuteSql mark : marks) {
        requirePartOfSeries(mark, mode);
      }
      if (mode == TransactionScope.AUTOCOMMIT) {
        throw new IllegalArgumentException("marks outside of a transaction");
      }
      if (!isDefinition(definition)) {
        throw new IllegalArgumentException("not a definition: " + definition);
      }
    }

    private static boolean isDefinition(Operation operation) {
      return operation instanceof ExecuteSql sql
          ? sql.definition() && !sql.batch()
          : operation instanceof FenceTable
              || operation instanceof UnfenceTable
              || operation instanceof DefineLock
              || operation instanceof ChangeLock
              || operation instanceof DropLock
              || operation instanceof CreateUser
              || operation instanceof AlterUser
              || operation instanceof DropUser
              || operation instanceof ChangeRight;
    }

    /** The scope of the marks. */
    public TransactionScope mode() {
      return marks.get(0).mode();
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.defineMarked(this);
    }
  }

  /** Binds a table: every later write to the table needs a token. */
  record FenceTable(
      TableName table, FenceTerms fence, @Nullable StatementFence proof, boolean ownLeaseTrusted)
      implements Operation {
    public FenceTable {
      requireNonNull(table, "table");
      requireNonNull(fence, "fence");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.fenceTable(this);
    }
  }

  /** Ends the binding of a table; needs the token that any other write to the table would need. */
  record UnfenceTable(TableName table, @Nullable StatementFence proof, boolean ownLeaseTrusted)
      implements Operation {
    public UnfenceTable {
      requireNonNull(table, "table");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.unfenceTable(this);
    }
  }

  /** Begins a transaction before its first change, so that its queries already run alone. */
  record BeginTransaction(TransactionScope mode) implements Operation {
    public BeginTransaction {
      if (mode == TransactionScope.AUTOCOMMIT) {
        throw new IllegalArgumentException("a transaction in mode " + mode);
      }
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.begin(this);
    }
  }

  /** Ends the session's transaction, if one is open; without {@code commit}, undoes its changes. */
  record EndTransaction(boolean commit) implements Operation {
    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.end(this);
    }
  }

  /** Sets a savepoint in the session's transaction, or rolls back to one. */
  record MarkSavepoint(boolean rollback, String name, TransactionScope mode) implements Operation {
    public MarkSavepoint {
      requireNonNull(name, "name");
      requireNonNull(mode, "mode");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.savepoint(this);
    }
  }

  /** Sets how long the session's statements wait for rows of other transactions. */
  record SetLockTimeout(long millis) implements Operation {
    public SetLockTimeout {
      if (millis < 0 || millis > Limits.LOCK_WAIT_MAX_MILLIS) {
        throw new IllegalArgumentException("lock timeout: " + millis + " ms");
      }
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.setLockTimeout(this);
    }
  }

  /**
   * Sets the time zone in which the session's statements run.
   *
   * @param zone null for the zone with which the session was opened
   */
  record SetTimeZone(@Nullable TimeZoneName zone) implements Operation {
    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.setTimeZone(this);
    }
  }

  /**
   * The clause FENCED [MONOTONIC] BY LOCK name TOKEN token of one statement.
   *
   * @param monotonic true if the statement only presents the token to the tables that are bound to
   *     the lock. False if the statement is rejected unless the lock is held under the token
   */
  record StatementFence(PresentedToken presented, boolean monotonic) {
    public StatementFence {
      requireNonNull(presented, "presented");
    }
  }

  /** What CREATE TABLE and ALTER TABLE bind a table to. */
  sealed interface FenceTerms permits TableFence, RowFence {}

  /** The clause FENCED [MONOTONIC] BY LOCK name: one lock for the table. */
  record TableFence(LockName lock, FenceReading reading) implements FenceTerms {
    public TableFence {
      requireNonNull(lock, "lock");
      requireNonNull(reading, "reading");
    }
  }

  /**
   * The clause FENCED BY LOCK (expression): a lock for each row, with the reading {@link
   * FenceReading#HELD}.
   *
   * @param lockSql the expression that names the lock of a row, from the row's columns alone; the
   *     core does not interpret it. At most {@link Limits#ROW_LOCK_CHARS} characters
   */
  record RowFence(String lockSql) implements FenceTerms {
    public RowFence {
      requireNonNull(lockSql, "lockSql");
      if (lockSql.isEmpty() || lockSql.length() > Limits.ROW_LOCK_CHARS) {
        throw new IllegalArgumentException("row lock of " + lockSql.length() + " characters");
      }
    }
  }

  /** An object that DDL names, if it can matter to a fenced table. */
  record DefinitionTarget(Kind kind, TableName name) {
    public DefinitionTarget {
      requireNonNull(kind, "kind");
      requireNonNull(name, "name");
    }

    /** The kind of object that the name stands for. */
    public enum Kind {
      TABLE,
      INDEX,
      SCHEMA,
      CONSTRAINT,
      OTHER
    }
  }

  /**
   * The parameters of one execution.
   *
   * @param values encoded by the store's value codec; the core does not interpret them
   * @param fence the statement's fence with its parameters filled in, or null
   * @param lockedBy the lock that the execution takes, writes under, and releases; or null. Only
   *     without a transaction, and without a fence
   */
  record ParameterSet(Payload values, @Nullable StatementFence fence, @Nullable LockName lockedBy) {
    public ParameterSet {
      requireNonNull(values, "values");
      if (fence != null && lockedBy != null) {
        throw new IllegalArgumentException("fenced by a lock and locked by one");
      }
    }

    public ParameterSet(Payload values, @Nullable StatementFence fence) {
      this(values, fence, null);
    }
  }

  /** Which generated keys a statement returns. */
  sealed interface WantedKeys {
    /** None. */
    record None() implements WantedKeys {}

    /**
     * All keys that the database generated: identity, defaults that are not constant, primary key.
     */
    record Generated() implements WantedKeys {}

    /** The columns at these positions, from 1. */
    record Positions(List<Integer> positions) implements WantedKeys {
      public Positions {
        positions = List.copyOf(positions);
      }
    }

    /** The columns with these names. */
    record Names(List<String> names) implements WantedKeys {
      public Names {
        names = List.copyOf(names);
      }
    }
  }
}
