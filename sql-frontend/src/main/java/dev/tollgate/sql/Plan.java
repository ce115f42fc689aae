package dev.tollgate.sql;

import static java.util.Objects.requireNonNull;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What to do with one statement. Plans are immutable, do not depend on the catalog or on a session,
 * and may be kept and shared.
 *
 * <p>Every {@code sql} is rebuilt from the tokens that were checked. H2 must get this text, not the
 * text that the client wrote.
 */
public sealed interface Plan {

  /** The number of {@code ?} in the statement as it was written. */
  int parameterCount();

  <R> R handledBy(Handler<R> handler);

  /**
   * One method for each kind of plan, so that a new kind breaks the build where it is not handled.
   */
  interface Handler<R> {
    R read(Read read);

    R write(Write write);

    R lockCall(LockCall lockCall);

    R fenceTable(FenceTable fenceTable);

    R unfenceTable(UnfenceTable unfenceTable);

    R presentToken(PresentToken presentToken);

    R fenceSession(FenceSession fenceSession);

    R configureLock(ConfigureLock configureLock);

    R configureUser(ConfigureUser configureUser);

    R configureRight(ConfigureRight configureRight);

    R setSession(SetSession setSession);

    R transaction(Transaction transaction);

    R administer(Administer administer);

    R nothing(Nothing nothing);
  }

  /**
   * A pure query: it changes nothing and runs on one node.
   *
   * @param sqlParameterCount the number of parameters of {@code sql}, which are the first of the
   *     statement. It is less than {@code parameterCount} only for EXPLAIN of a fenced write, whose
   *     fence H2 does not see.
   */
  record Read(String sql, int parameterCount, int sqlParameterCount) implements Plan {
    public Read {
      requireNonNull(sql, "sql");
      checkParameterCounts(parameterCount, sqlParameterCount);
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.read(this);
    }
  }

  /**
   * A statement that every replica applies.
   *
   * @param sqlParameterCount the number of parameters of {@code sql}, which are the first of the
   *     statement; the parameters of the fence, or of the lock that it takes, follow
   * @param returnsRows whether the statement has the form of a query, although it writes: SELECT
   *     ... FOR UPDATE, SELECT ... FROM FINAL TABLE (...), SELECT or CALL of NEXT VALUE FOR or of a
   *     lock function that changes state
   * @param fence null if the statement has none
   * @param targets the objects that the statement changes, as far as it names them; foreign keys
   *     and views are left to code that knows the catalog
   * @param tableFence the fence that a CREATE TABLE gives its table, else null
   * @param lockedBy the lock that each execution takes, writes under, and releases: an {@link
   *     Argument.Text} or an {@link Argument.Parameter}. Null if there is none, and with a fence
   * @param shape what statements share which differ in the values of literals alone, and their
   *     sizes
   */
  record Write(
      String sql,
      int parameterCount,
      int sqlParameterCount,
      WriteKind kind,
      boolean returnsRows,
      @Nullable StatementFence fence,
      List<Target> targets,
      @Nullable TableFence tableFence,
      @Nullable Argument lockedBy,
      StatementShape shape)
      implements Plan {
    public Write {
      requireNonNull(sql, "sql");
      requireNonNull(kind, "kind");
      requireNonNull(shape, "shape");
      targets = List.copyOf(targets);
      if (lockedBy != null && (fence != null || kind == WriteKind.DDL)) {
        throw new IllegalArgumentException("LOCKED BY in " + kind + " with fence " + fence);
      }
      checkParameterCounts(parameterCount, sqlParameterCount);
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.write(this);
    }
  }

  /**
   * A call of one lock function that is the whole statement.
   *
   * @param arguments empty if {@code argumentsSql} is not null
   * @param argumentsSql null if all arguments are literals or parameters; else a query for H2 that
   *     returns one row, with a column for each argument, and changes nothing. Its parameters are
   *     those of the statement in their order, without the out parameter.
   * @param columnLabel the label of the one result column: the alias; without an alias the call in
   *     upper case, and C1 after VALUES, as in H2
   * @param outParameter whether parameter 0 is the result, as in {@code ? = CALL lock_token(?)}
   */
  record LockCall(
      LockFunction function,
      List<Argument> arguments,
      @Nullable String argumentsSql,
      String columnLabel,
      int parameterCount,
      boolean outParameter)
      implements Plan {
    public LockCall {
      requireNonNull(function, "function");
      arguments = List.copyOf(arguments);
      requireNonNull(columnLabel, "columnLabel");
      if (arguments.isEmpty() == (argumentsSql == null)) {
        throw new IllegalArgumentException("either arguments or argumentsSql");
      }
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.lockCall(this);
    }
  }

  /** ALTER TABLE ... FENCED BY LOCK ... */
  record FenceTable(ObjectName table, TableFence fence) implements Plan {
    public FenceTable {
      requireNonNull(table, "table");
      requireNonNull(fence, "fence");
    }

    @Override
    public int parameterCount() {
      return 0;
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.fenceTable(this);
    }
  }

  /** ALTER TABLE ... NOT FENCED */
  record UnfenceTable(ObjectName table) implements Plan {
    public UnfenceTable {
      requireNonNull(table, "table");
    }

    @Override
    public int parameterCount() {
      return 0;
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.unfenceTable(this);
    }
  }

  /**
   * SET FENCING TOKEN token FOR LOCK lock: the session presents this token with every write from
   * now on.
   *
   * @param lock an {@link Argument.Text} or an {@link Argument.Parameter}
   * @param token an {@link Argument.Integral}, an {@link Argument.Parameter}, or {@link
   *     Argument.Null} to present none
   */
  record PresentToken(Argument lock, Argument token, int parameterCount) implements Plan {
    public PresentToken {
      requireNonNull(lock, "lock");
      requireNonNull(token, "token");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.presentToken(this);
    }
  }

  /**
   * SET FENCED BY LOCK lock TOKEN token: from now on every write of the session is fenced as if it
   * ended with this clause.
   *
   * @param fence not monotonic; null for SET NOT FENCED, which ends that
   */
  record FenceSession(@Nullable StatementFence fence, int parameterCount) implements Plan {
    public FenceSession {
      if (fence != null && fence.monotonic()) {
        throw new IllegalArgumentException("a monotonic fence of a session");
      }
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.fenceSession(this);
    }
  }

  /**
   * CREATE, ALTER or DROP LOCK: how many leases may hold a lock at a time. The statement changes
   * lock state, as lock functions do: it is no DDL and no part of a transaction.
   *
   * @param lock an {@link Argument.Text} or an {@link Argument.Parameter}
   * @param permits an {@link Argument.Integral} or an {@link Argument.Parameter}; null for DROP
   * @param lenient whether nothing happens if the definition exists (CREATE) or does not exist
   */
  record ConfigureLock(
      ConfigureLock.Change change,
      Argument lock,
      @Nullable Argument permits,
      boolean lenient,
      int parameterCount)
      implements Plan {

    /** What happens to the definition of the lock. */
    public enum Change {
      CREATE,
      ALTER,
      DROP
    }

    public ConfigureLock {
      requireNonNull(change, "change");
      requireNonNull(lock, "lock");
      if ((change == ConfigureLock.Change.DROP) != (permits == null)) {
        throw new IllegalArgumentException(change + " with permits " + permits);
      }
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.configureLock(this);
    }
  }

  /**
   * CREATE, ALTER or DROP USER, or SET PASSWORD. H2 does not see the statement, and no cache keeps
   * a plan with the text of a password.
   *
   * @param user in upper case, as H2 keeps the names of users also if they are quoted; null for the
   *     session's own user, with SET_PASSWORD alone
   * @param password an {@link Argument.Text} or an {@link Argument.Parameter}; null for CREATE
   *     without a password, and for the changes that need none
   * @param administrator whether CREATE says ADMIN, or SET_ADMINISTRATOR says TRUE
   * @param endsSessions whether the other sessions of the user end, for SET_PASSWORD
   * @param workLimit in percent, 1 to 100, for SET_WORK_LIMIT and CREATE; 0 for none
   * @param validUntilMicros microseconds since 1970, for SET_VALIDITY and CREATE; {@link
   *     Long#MAX_VALUE} for infinity, 0 for none
   * @param lenient whether nothing happens if the user exists (CREATE) or does not exist (DROP)
   */
  record ConfigureUser(
      ConfigureUser.Change change,
      @Nullable String user,
      @Nullable Argument password,
      boolean endsSessions,
      boolean administrator,
      int workLimit,
      long validUntilMicros,
      boolean lenient,
      int parameterCount)
      implements Plan {

    /** What happens to the user. */
    public enum Change {
      CREATE,
      /** The new password replaces all passwords of the user. */
      SET_PASSWORD,
      /** The newest of the old passwords stays valid beside the new one. */
      ADD_PASSWORD,
      /** Only the newest password stays valid. */
      DROP_OLD_PASSWORD,
      SET_ADMINISTRATOR,
      SET_WORK_LIMIT,
      /** The user may not log in, and its sessions end. */
      LOCK_ACCOUNT,
      UNLOCK_ACCOUNT,
      SET_VALIDITY,
      DROP
    }

    public ConfigureUser {
      requireNonNull(change, "change");
      if (user == null && change != ConfigureUser.Change.SET_PASSWORD) {
        throw new IllegalArgumentException(change + " without a user");
      }
      boolean needsPassword =
          change == ConfigureUser.Change.SET_PASSWORD
              || change == ConfigureUser.Change.ADD_PASSWORD;
      if (change != ConfigureUser.Change.CREATE && needsPassword != (password != null)) {
        throw new IllegalArgumentException(
            change + (password == null ? " without" : " with") + " a password");
      }
      if (password != null && !isTextOrParameter(password)) {
        throw new IllegalArgumentException("a password that is neither text nor parameter");
      }
      if (administrator
          && change != ConfigureUser.Change.CREATE
          && change != ConfigureUser.Change.SET_ADMINISTRATOR) {
        throw new IllegalArgumentException(change + " with administrator");
      }
      if (change != ConfigureUser.Change.CREATE
          && (workLimit != 0) != (change == ConfigureUser.Change.SET_WORK_LIMIT)) {
        throw new IllegalArgumentException(change + " with work limit " + workLimit);
      }
      if (change != ConfigureUser.Change.CREATE
          && (validUntilMicros != 0) != (change == ConfigureUser.Change.SET_VALIDITY)) {
        throw new IllegalArgumentException(change + " valid until " + validUntilMicros);
      }
      if (endsSessions && change != ConfigureUser.Change.SET_PASSWORD) {
        throw new IllegalArgumentException(change + " with END SESSIONS");
      }
      if (lenient && change != ConfigureUser.Change.CREATE && change != ConfigureUser.Change.DROP) {
        throw new IllegalArgumentException("lenient " + change);
      }
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.configureUser(this);
    }

    /** Does not show the password. */
    @Override
    public String toString() {
      return "ConfigureUser[change="
          + change
          + ", user="
          + user
          + ", password="
          + (password instanceof Argument.Text ? "hidden" : password)
          + ", endsSessions="
          + endsSessions
          + ", administrator="
          + administrator
          + ", workLimit="
          + workLimit
          + ", validUntilMicros="
          + validUntilMicros
          + ", lenient="
          + lenient
          + ", parameterCount="
          + parameterCount
          + "]";
    }
  }

  /**
   * GRANT or REVOKE of a right that H2 does not know.
   *
   * @param grant false for REVOKE
   * @param pattern the names of the locks, for LOCK and FORCE: an {@link Argument.Text} or an
   *     {@link Argument.Parameter}. In it, {@code %} stands for any characters, and {@code \%} for
   *     the character. Null for the other rights.
   * @param sequence null for all rights but SEQUENCE
   * @param grantee a user, a role or PUBLIC, in upper case as H2 keeps these names
   */
  record ConfigureRight(
      boolean grant,
      Right right,
      @Nullable Argument pattern,
      @Nullable ObjectName sequence,
      String grantee,
      int parameterCount)
      implements Plan {

    /** The rights that H2 does not know. */
    public enum Right {
      /** To acquire locks whose names match the pattern. */
      LOCK,
      /** To call force_release_lock for locks whose names match the pattern. */
      FORCE,
      /** USAGE: to draw values from the sequence. */
      SEQUENCE,
      /** AUDIT ON CLUSTER: to see the state of the cluster, but neither rows nor tokens. */
      AUDIT,
      /** MANAGE ON LOCKS: to do with all locks and leases what administrators may. */
      MANAGE
    }

    public ConfigureRight {
      requireNonNull(right, "right");
      requireNonNull(grantee, "grantee");
      boolean onSequence = right == Right.SEQUENCE;
      boolean onPattern = right == Right.LOCK || right == Right.FORCE;
      if (onSequence != (sequence != null) || onPattern != (pattern != null)) {
        throw new IllegalArgumentException(right + " on " + pattern + " and " + sequence);
      }
      if (pattern != null && !isTextOrParameter(pattern)) {
        throw new IllegalArgumentException("pattern: " + pattern);
      }
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.configureRight(this);
    }
  }

  /** SET of a session property; {@link Setting} says which values there are. */
  record SetSession(Setting setting, Argument value, int parameterCount) implements Plan {
    public SetSession {
      requireNonNull(setting, "setting");
      requireNonNull(value, "value");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.setSession(this);
    }
  }

  /**
   * Transaction control.
   *
   * @param savepoint the name as H2 understands it, for the kinds that have one, else null
   */
  record Transaction(Kind kind, @Nullable String savepoint) implements Plan {

    /** The statements of transaction control. */
    public enum Kind {
      BEGIN,
      COMMIT,
      ROLLBACK,
      SAVEPOINT,
      ROLLBACK_TO,
      RELEASE
    }

    public Transaction {
      requireNonNull(kind, "kind");
      boolean named = kind == Kind.SAVEPOINT || kind == Kind.ROLLBACK_TO || kind == Kind.RELEASE;
      if (named != (savepoint != null)) {
        throw new IllegalArgumentException(kind + " with savepoint " + savepoint);
      }
    }

    @Override
    public int parameterCount() {
      return 0;
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.transaction(this);
    }
  }

  /** CALL of a procedure that administers the cluster. */
  record Administer(Procedure procedure, List<Argument> arguments, int parameterCount)
      implements Plan {
    public Administer {
      requireNonNull(procedure, "procedure");
      arguments = List.copyOf(arguments);
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.administer(this);
    }
  }

  /** An empty statement, or a statement that is accepted and does nothing here. */
  record Nothing(int parameterCount) implements Plan {
    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.nothing(this);
    }
  }

  private static boolean isTextOrParameter(Argument argument) {
    return argument instanceof Argument.Text || argument instanceof Argument.Parameter;
  }

  private static void checkParameterCounts(int parameterCount, int sqlParameterCount) {
    if (sqlParameterCount < 0 || sqlParameterCount > parameterCount) {
      throw new IllegalArgumentException(
          sqlParameterCount + " of " + parameterCount + " parameters");
    }
  }
}
