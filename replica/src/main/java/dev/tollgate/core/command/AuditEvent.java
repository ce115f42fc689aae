package dev.tollgate.core.command;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * A fact about a command that an auditor wants to know. The core records these facts only if it is
 * told to ({@link dev.tollgate.core.StateMachine#recordEvents}). They are the same on every
 * replica, in the same order, and no part of the replicated state.
 */
public sealed interface AuditEvent {
  /** Calls the method of {@code handler} that fits this event. */
  <R> R handledBy(Handler<R> handler);

  /** One method per event, so that a new event does not compile until it is handled. */
  interface Handler<R> {
    R granted(LockGranted event);

    R forced(LockForced event);

    R lost(LockLost event);

    R refused(WriteRefused event);

    R administered(Administered event);

    R defined(Defined event);
  }

  /**
   * The session on whose behalf something happened.
   *
   * @param session null for what no session asked for
   * @param user null if the session has ended, or there is none
   * @param client null under the same conditions
   */
  record Party(@Nullable SessionId session, @Nullable String user, @Nullable ClientInfo client) {
    /** What no session asked for. */
    public static final Party NOBODY = new Party(null, null, null);
  }

  /** How a lease came to a lock. */
  enum GrantWay {
    /** The lock was free when the request came. */
    AT_ONCE,
    /** The request stood in the queue of the lock. */
    AFTER_WAIT,
    /** Another lease handed the lock over. */
    TRANSFER
  }

  /** Why a lease lost a lock that its client had not released. */
  enum LossReason {
    /** The lease was not renewed in time. */
    LEASE_EXPIRED,
    /** The session was not heard from in time; its own lease and its transaction ended with it. */
    SESSION_EXPIRED,
    /** A session has revoked the lease. */
    LEASE_REVOKED,
    /** The transaction that held the lock was rolled back against the will of its client. */
    TRANSACTION_ABORTED
  }

  /**
   * What came of an act.
   *
   * @param code of the refusal, or SQLState of the failure; null for every other kind
   */
  record Result(Kind kind, @Nullable String code) {
    /** Kinds of results. */
    public enum Kind {
      DONE,
      NOTHING_TO_DO,
      LOCK_NOT_HELD,
      REFUSED,
      FAILED
    }

    public Result {
      requireNonNull(kind, "kind");
    }

    /** The result of the command or execution that had this outcome. */
    public static Result of(Outcome outcome) {
      if (outcome instanceof Outcome.Refused refused) {
        return new Result(Kind.REFUSED, refused.code().name());
      }
      if (outcome instanceof Outcome.SqlFailed failed) {
        return new Result(Kind.FAILED, failed.sqlState());
      }
      return new Result(
          outcome instanceof Outcome.Answered answered && !answered.answer()
              ? Kind.NOTHING_TO_DO
              : Kind.DONE,
          null);
    }

    /** True if nothing is different after the act. */
    public boolean isInVain() {
      return kind != Kind.DONE;
    }
  }

  /** A lease holds a lock that it did not hold before. */
  record LockGranted(
      Party by,
      LockName lock,
      LockMode mode,
      FencingToken token,
      LeaseId lease,
      LeaseKind kind,
      GrantWay way)
      implements AuditEvent {
    public LockGranted {
      requireNonNull(by, "by");
      requireNonNull(lock, "lock");
      requireNonNull(mode, "mode");
      requireNonNull(token, "token");
      requireNonNull(lease, "lease");
      requireNonNull(kind, "kind");
      requireNonNull(way, "way");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.granted(this);
    }
  }

  /** A lock was taken from one of its holders by force. */
  record LockForced(Party by, Party holder, LockName lock, FencingToken token, LeaseId lease)
      implements AuditEvent {
    public LockForced {
      requireNonNull(by, "by");
      requireNonNull(holder, "holder");
      requireNonNull(lock, "lock");
      requireNonNull(token, "token");
      requireNonNull(lease, "lease");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.forced(this);
    }
  }

  /**
   * A lock was lost with its lease.
   *
   * @param by the session that revoked the lease, or {@link Party#NOBODY}
   */
  record LockLost(
      Party by, Party holder, LockName lock, FencingToken token, LeaseId lease, LossReason reason)
      implements AuditEvent {
    public LockLost {
      requireNonNull(by, "by");
      requireNonNull(holder, "holder");
      requireNonNull(lock, "lock");
      requireNonNull(token, "token");
      requireNonNull(lease, "lease");
      requireNonNull(reason, "reason");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.lost(this);
    }
  }

  /**
   * A fence has refused a write, or the commit of a transaction that has written.
   *
   * @param code {@link RefusalCode#TOKEN_STALE} or {@link RefusalCode#TOKEN_MISSING}
   * @param table the fenced table, or null if the writer alone demanded the token
   * @param token what was presented, or null
   */
  record WriteRefused(
      Party by, RefusalCode code, @Nullable TableName table, LockName lock, @Nullable Long token)
      implements AuditEvent {
    public WriteRefused {
      requireNonNull(by, "by");
      requireNonNull(code, "code");
      requireNonNull(lock, "lock");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.refused(this);
    }
  }

  /**
   * An act of administration.
   *
   * @param action a constant, such as {@code create_lock}
   * @param object what the act was about; empty if the action says it all
   */
  record Administered(Party by, String action, String object, Result result) implements AuditEvent {
    public Administered {
      requireNonNull(by, "by");
      requireNonNull(action, "action");
      requireNonNull(object, "object");
      requireNonNull(result, "result");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.administered(this);
    }
  }

  /**
   * A statement that changes definitions or rights.
   *
   * @param sql its text, which has values: whoever shows it leaves them out
   */
  record Defined(Party by, String sql, Result result) implements AuditEvent {
    public Defined {
      requireNonNull(by, "by");
      requireNonNull(sql, "sql");
      requireNonNull(result, "result");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.defined(this);
    }
  }
}
