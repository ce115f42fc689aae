package dev.tollgate.core;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One statement at work: which tokens its writer presents, and what the fences make of them. */
final class SqlWrite implements SqlContext {
  private final LogPosition position;
  private final Session session;
  private final boolean ownLeaseTrusted;
  private final LockTable locks;
  private final FenceTable fences;
  private final Operation.Handler<Outcome> operations;

  private Operation.@Nullable StatementFence clause;
  private boolean clauseUsed;

  /** Tokens with which the execution passed a fence; they count once it is complete. */
  private final Map<FenceId, Long> passed = new LinkedHashMap<>();

  SqlWrite(
      LogPosition position,
      Session session,
      boolean ownLeaseTrusted,
      LockTable locks,
      FenceTable fences,
      Operation.Handler<Outcome> operations) {
    this.position = position;
    this.session = session;
    this.ownLeaseTrusted = ownLeaseTrusted;
    this.locks = locks;
    this.fences = fences;
    this.operations = operations;
  }

  @Override
  public LogPosition position() {
    return position;
  }

  @Override
  public String schema() {
    return session.schema();
  }

  @Override
  public Outcome.@Nullable Refused begin(Operation.@Nullable StatementFence statementClause) {
    clause = statementClause;
    clauseUsed = false;
    passed.clear();
    if (statementClause == null || statementClause.monotonic()) {
      return null;
    }
    clauseUsed = true;
    PresentedToken presented = statementClause.presented();
    return isHeldExclusively(presented.lock(), presented.token()) ? null : stale(presented);
  }

  @Override
  public Outcome.@Nullable Refused write(FenceId id) {
    if (passed.containsKey(id)) {
      return null;
    }
    Fence fence = fences.existing(id);
    Long token = presentedFor(fence.lock());
    if (token == null) {
      return new Outcome.Refused(
          RefusalCode.TOKEN_MISSING,
          "the table is fenced by lock '"
              + fence.lock()
              + "' and the writer presented no token of it: acquire the lock on this connection, add"
              + " FENCED BY LOCK '"
              + fence.lock()
              + "' TOKEN n to the statement, or SET FENCING TOKEN n FOR LOCK '"
              + fence.lock()
              + "'");
    }
    PresentedToken presented = new PresentedToken(fence.lock(), token);
    if (!accepts(fence, token)) {
      return stale(presented);
    }
    passed.put(id, token);
    return null;
  }

  @Override
  public Outcome.@Nullable Refused complete() {
    Operation.StatementFence stated = clause;
    if (stated != null && !clauseUsed) {
      return new Outcome.Refused(
          RefusalCode.FENCE_STATE,
          "FENCED MONOTONIC BY LOCK '"
              + stated.presented().lock()
              + "' has nothing to compare its token with: the statement writes to no table that is"
              + " fenced by that lock");
    }
    passed.forEach((id, token) -> fences.existing(id).accepted(token));
    return null;
  }

  @Override
  public FenceId createFence(Operation.TableFence terms) {
    return fences.create(terms).id();
  }

  @Override
  public void dropFence(FenceId fence) {
    fences.remove(fence);
    passed.remove(fence);
  }

  @Override
  public boolean holdsLock(LockName lock, long token) {
    return locks.isHeldUnder(lock, token);
  }

  @Override
  public @Nullable FencingToken lockToken(LockName lock) {
    Hold hold = locks.exclusiveHold(lock);
    return hold == null ? null : hold.token();
  }

  @Override
  public Outcome perform(Operation operation) {
    return operation.handledBy(operations);
  }

  /**
   * The clause of the statement speaks before the session's setting, and that before the session's
   * own lease: who states a token has said which grant it believes in.
   */
  private @Nullable Long presentedFor(LockName lock) {
    Operation.StatementFence stated = clause;
    if (stated != null && stated.presented().lock().equals(lock)) {
      clauseUsed = true;
      return stated.presented().token();
    }
    Long set = session.presented().get(lock);
    if (set != null) {
      return set;
    }
    Hold hold = locks.exclusiveHold(lock);
    return hold != null && ownLeaseTrusted && hold.lease() == session.ownLease()
        ? (Long) hold.token().value()
        : null;
  }

  private boolean accepts(Fence fence, long token) {
    return switch (fence.reading()) {
      case HELD -> isHeldExclusively(fence.lock(), token);
      case MONOTONIC -> token >= fence.highestToken() && token > 0 && token <= locks.lastToken();
    };
  }

  private boolean isHeldExclusively(LockName lock, long token) {
    Hold hold = locks.exclusiveHold(lock);
    return hold != null && hold.token().value() == token;
  }

  private Outcome.Refused stale(PresentedToken presented) {
    LockName lock = presented.lock();
    Hold hold = locks.exclusiveHold(lock);
    String now;
    if (presented.token() <= 0 || presented.token() > locks.lastToken()) {
      now = "no such token was ever issued";
    } else if (hold != null) {
      now = "the lock is held under token " + hold.token() + " by " + hold.lease().owner();
    } else if (locks.find(lock) != null) {
      now = "the lock is held in shared mode, which allows nobody to write";
    } else {
      now = "nobody holds the lock now";
    }
    return new Outcome.Refused(
        RefusalCode.TOKEN_STALE,
        "write refused: token " + presented.token() + " of lock '" + lock + "' is stale, " + now);
  }
}
