package dev.tollgate.core;

import dev.tollgate.core.command.FenceId;
import dev.tollgate.core.command.FenceReading;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.LogPosition;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.PresentedToken;
import dev.tollgate.core.command.RandomSeed;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.RowLock;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TableName;
import dev.tollgate.core.command.TimeZoneName;
import dev.tollgate.core.command.UserName;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A running statement: the tokens that its writer presents, and what the fences decide about them.
 */
final class SqlWrite implements SqlContext {
  /** Creates the context through which a session's statement asks the core. */
  interface Factory {
    SqlWrite of(Session session, @Nullable Transaction transaction, boolean ownLeaseTrusted);
  }

  private final LogPosition position;
  private final RandomSeed randomSeed;
  private final CurrentCommand current;
  private int attempt;
  private final Session session;
  private final @Nullable Transaction transaction;
  private final boolean ownLeaseTrusted;
  private final LockTable locks;
  private final FenceTable fences;
  private final Rights rights;
  private final EventRecorder audit;
  private final Operation.Handler<Outcome> operations;

  /** The lock that the execution has taken for itself, or null. */
  private Operation.@Nullable StatementFence locked;

  private Operation.@Nullable StatementFence clause;
  private boolean clauseUsed;

  /** What the statement's clause and the session's fence demand: locks held under these tokens. */
  private final List<PresentedToken> demanded = new ArrayList<>();

  /** Tokens with which the execution passed a fence; they count once it has completed. */
  private final Map<FenceId, Long> passed = new LinkedHashMap<>();

  /** The same for rows that have their own locks. */
  private final Map<RowLock, Long> passedRows = new LinkedHashMap<>();

  /** Lock operations of the current execution. */
  private int operationsDone;

  SqlWrite(
      ReplicatedState state,
      Session session,
      @Nullable Transaction transaction,
      boolean ownLeaseTrusted,
      Rights rights,
      Operation.Handler<Outcome> operations) {
    this.position = state.current().position();
    this.randomSeed = state.agreement().randomSeed();
    this.current = state.current();
    this.attempt = current.nextAttempt();
    this.session = session;
    this.transaction = transaction;
    this.ownLeaseTrusted = ownLeaseTrusted;
    this.locks = state.locks();
    this.fences = state.fences();
    this.rights = rights;
    this.audit = state.audit();
    this.operations = operations;
  }

  @Override
  public LogPosition position() {
    return position;
  }

  @Override
  public long timeMicros() {
    return transaction == null ? position.timeMicros() : transaction.openedMicros();
  }

  @Override
  public RandomSeed randomSeed() {
    return randomSeed;
  }

  @Override
  public int attempt() {
    return attempt;
  }

  @Override
  public @Nullable SessionId transaction() {
    return transaction == null ? null : transaction.session();
  }

  @Override
  public String schema() {
    return session.schema();
  }

  @Override
  public TimeZoneName timeZone() {
    return session.timeZone();
  }

  @Override
  public UserName user() {
    return session.user();
  }

  @Override
  public int workLimit() {
    return rights.workLimit(session.user());
  }

  @Override
  public boolean mayUse(String grantee, TableName sequence) {
    return rights.use(grantee, sequence);
  }

  @Override
  public Outcome.@Nullable Refused admit(
      Operation.@Nullable StatementFence written, Collection<FenceId> ids) {
    Operation.StatementFence stated = written == null ? locked : written;
    clause = stated;
    passed.clear();
    passedRows.clear();
    boolean rowsFollow = false;
    demand(stated);
    clauseUsed = stated != null && !stated.monotonic();
    for (PresentedToken token : demanded) {
      Outcome.Refused refused =
          under(
              token.lock(),
              () ->
                  locks.isHeldExclusively(token.lock(), token.token()) ? null : stale(null, token));
      if (refused != null) {
        return refused;
      }
    }
    for (FenceId id : ids) {
      Fence fence = fences.existing(id);
      LockName lock = fence.lock();
      rowsFollow |= lock == null;
      Outcome.Refused refused = lock == null ? null : under(lock, () -> pass(fence, lock));
      if (refused != null) {
        return refused;
      }
    }
    return stated == null || clauseUsed || rowsFollow
        ? null
        : nothingToCompare(stated.presented().lock());
  }

  /** Makes the next execution an attempt of its own, as if it stood in a command of its own. */
  void nextAttempt() {
    attempt = current.nextAttempt();
  }

  /** Has the next execution write under this token, as if its clause FENCED BY stated it. */
  void lockUnder(PresentedToken token) {
    locked = new Operation.StatementFence(token, /* monotonic= */ false);
  }

  private void demand(Operation.@Nullable StatementFence stated) {
    demanded.clear();
    if (stated != null && !stated.monotonic()) {
      demanded.add(stated.presented());
    }
    PresentedToken fence = session.fence();
    if (fence != null) {
      demanded.add(fence);
    }
  }

  /** Admits a write under a token of the lock, if the user may write under its tokens at all. */
  private Outcome.@Nullable Refused under(
      LockName lock, Supplier<Outcome.@Nullable Refused> admission) {
    Outcome.Refused unable = rights.acquire(session, List.of(lock));
    return unable == null ? admission.get() : unable;
  }

  private Outcome.@Nullable Refused pass(Fence fence, LockName lock) {
    Long token = presentedFor(lock);
    if (token == null) {
      return missing("table " + fence.table(), fence.id(), lock);
    }
    if (!accepts(fence, lock, token)) {
      return fence.reading() == FenceReading.MONOTONIC && token < fence.highestToken()
          ? passedBy(fence, lock, token)
          : stale(fence, new PresentedToken(lock, token));
    }
    passed.put(fence.id(), token);
    return null;
  }

  @Override
  public Outcome.@Nullable Refused admitRow(FenceId id, LockName lock) {
    return under(lock, () -> passRow(id, lock));
  }

  private Outcome.@Nullable Refused passRow(FenceId id, LockName lock) {
    Long token = presentedFor(lock);
    if (token == null) {
      return missing(rowOf(id), id, lock);
    }
    if (!locks.isHeldExclusively(lock, token)) {
      return staleForRow(id, new PresentedToken(lock, token));
    }
    passedRows.putIfAbsent(new RowLock(id, lock), token);
    return null;
  }

  @Override
  public Outcome.@Nullable Refused admitAllRows(FenceId id, LockName lock) {
    Long token = presentedFor(lock);
    if (token == null && !locks.isHeld(lock)) {
      return null;
    }
    return under(
        lock,
        () ->
            token == null
                ? missing(rowOf(id), id, lock)
                : locks.isHeldExclusively(lock, token)
                    ? null
                    : staleForRow(id, new PresentedToken(lock, token)));
  }

  @Override
  public void completed() {
    Transaction open = transaction;
    if (open == null) {
      passed.forEach((id, token) -> fences.existing(id).accepted(token));
      passedRows.forEach((row, token) -> fences.existing(row.fence()).accepted(token));
    } else {
      passed.forEach(open::passed);
      passedRows.forEach(open::passedRows);
      demanded.forEach(token -> open.demanded(token.lock(), token.token()));
    }
  }

  /**
   * Decides whether a transaction may commit: every token under which it has written must still be
   * accepted. A fence that has been removed since then requires nothing.
   *
   * @return null if the transaction may commit, else why not
   */
  Outcome.@Nullable Refused admitCommit(Transaction committing) {
    Outcome.Refused unable =
        rights.isAdministrator(session) ? null : rights.acquire(session, locksOf(committing));
    if (unable != null) {
      return unable;
    }
    for (Map.Entry<LockName, Long> entry : committing.demanded().entrySet()) {
      if (!locks.isHeldExclusively(entry.getKey(), entry.getValue())) {
        return stale(null, new PresentedToken(entry.getKey(), entry.getValue()));
      }
    }
    for (Map.Entry<FenceId, Long> entry : committing.passed().entrySet()) {
      Fence fence = fences.find(entry.getKey());
      LockName lock = fence == null ? null : fence.lock();
      if (fence != null && lock != null && !accepts(fence, lock, entry.getValue())) {
        return stale(fence, new PresentedToken(lock, entry.getValue()));
      }
    }
    for (Map.Entry<RowLock, Long> entry : committing.rows().entrySet()) {
      RowLock row = entry.getKey();
      if (fences.find(row.fence()) != null
          && !locks.isHeldExclusively(row.lock(), entry.getValue())) {
        return staleForRow(row.fence(), new PresentedToken(row.lock(), entry.getValue()));
      }
    }
    commits(committing);
    return null;
  }

  /**
   * Records that a transaction commits whose writes are admitted: by {@link #admitCommit}, or by
   * this very command.
   */
  void commits(Transaction committing) {
    committing.highest().forEach(this::accepted);
    committing.rows().forEach((row, token) -> accepted(row.fence(), token));
  }

  /** The locks under whose tokens a transaction has written. */
  private SortedSet<LockName> locksOf(Transaction committing) {
    SortedSet<LockName> used = new TreeSet<>(committing.demanded().keySet());
    committing.rows().keySet().forEach(row -> used.add(row.lock()));
    for (FenceId id : committing.passed().keySet()) {
      Fence fence = fences.find(id);
      LockName lock = fence == null ? null : fence.lock();
      if (lock != null) {
        used.add(lock);
      }
    }
    return used;
  }

  private void accepted(FenceId id, long token) {
    Fence fence = fences.find(id);
    if (fence != null) {
      fence.accepted(token);
    }
  }

  @Override
  public FenceId createFence(TableName table, Operation.FenceTerms terms) {
    return fences.create(table, terms).id();
  }

  @Override
  public void renameFence(FenceId fence, TableName table) {
    fences.existing(fence).rename(table);
  }

  @Override
  public TableName tableOf(FenceId id) {
    return fences.existing(id).table();
  }

  @Override
  public Operation.FenceTerms termsOf(FenceId id) {
    return fences.existing(id).terms();
  }

  @Override
  public void dropFence(FenceId fence) {
    fences.remove(fence);
    passed.remove(fence);
  }

  @Override
  public Outcome holdsLock(LockName lock, long token) {
    return new LockInquiries(locks, rights).holdsLock(session.user(), lock, token);
  }

  @Override
  public Outcome lockToken(LockName lock) {
    return new LockInquiries(locks, rights).lockToken(session.user(), lock);
  }

  @Override
  public Outcome perform(Operation operation) {
    if (operationsDone >= Limits.LOCK_CALLS_PER_STATEMENT) {
      return new Outcome.Refused(
          RefusalCode.LIMIT_REACHED,
          "a statement calls lock functions at most "
              + Limits.LOCK_CALLS_PER_STATEMENT
              + " times: name fewer locks in it");
    }
    operationsDone++;
    return operation.handledBy(operations);
  }

  /** Makes the next execution one that has called no lock function. */
  void begin() {
    operationsDone = 0;
  }

  /** Says of an execution that failed how many calls of lock functions stand nevertheless. */
  Outcome withCalls(Outcome outcome) {
    String stand =
        operationsDone + " of its calls of lock functions were carried out and are not undone";
    if (operationsDone > 0 && outcome instanceof Outcome.Refused refused) {
      return new Outcome.Refused(refused.code(), refused.message() + "; " + stand);
    }
    if (operationsDone > 0 && outcome instanceof Outcome.SqlFailed failed) {
      return new Outcome.SqlFailed(
          failed.sqlState(), failed.vendorCode(), failed.message() + "; " + stand);
    }
    return outcome;
  }

  /**
   * The statement's clause takes precedence over the session's fence, that over the session's other
   * settings, and these over the session's own lease. A client that states a token has said which
   * grant it believes in.
   */
  private @Nullable Long presentedFor(LockName lock) {
    Operation.StatementFence stated = clause;
    if (stated != null && stated.presented().lock().equals(lock)) {
      clauseUsed = true;
      return stated.presented().token();
    }
    PresentedToken fence = session.fence();
    if (fence != null && fence.lock().equals(lock)) {
      return fence.token();
    }
    Long set = session.presented().get(lock);
    if (set != null) {
      return set;
    }
    Transaction open = transaction;
    Hold hold = open == null ? null : locks.exclusiveHold(lock, open.lease());
    if (hold == null && ownLeaseTrusted) {
      hold = locks.exclusiveHold(lock, session.ownLease());
    }
    return hold == null ? null : (Long) hold.token().value();
  }

  private boolean accepts(Fence fence, LockName lock, long token) {
    return switch (fence.reading()) {
      case HELD -> locks.isHeldExclusively(lock, token);
      case MONOTONIC -> token >= fence.highestToken() && token > 0 && token <= locks.lastToken();
    };
  }

  private String rowOf(FenceId id) {
    return "a row of table " + fences.existing(id).table();
  }

  private Outcome.Refused missing(String what, FenceId id, LockName lock) {
    audit.refused(session, RefusalCode.TOKEN_MISSING, fences.existing(id).table(), lock, null);
    return new Outcome.Refused(
        RefusalCode.TOKEN_MISSING,
        "write refused: "
            + what
            + " is fenced by lock '"
            + lock
            + "', and "
            + whyNothingIsPresented(lock)
            + ", and "
            + holderOf(lock)
            + "; acquire the lock on this connection, or add FENCED BY LOCK '"
            + lock
            + "' TOKEN n or LOCKED BY '"
            + lock
            + "' to the statement, or SET FENCING TOKEN n FOR LOCK '"
            + lock
            + "'");
  }

  private String whyNothingIsPresented(LockName lock) {
    Lease own = session.ownLease();
    if (session.hasLost(lock)) {
      return own == null
          ? "the lease of the writer's connection has ended while it held the lock"
          : "force_release_lock took the lock from the writer's connection";
    }
    return own != null && locks.holdOf(lock, own) != null && !ownLeaseTrusted
        ? "the writer's connection cannot prove that its lease is alive, which holds the lock"
        : "the writer presented no token of it";
  }

  private static Outcome.Refused nothingToCompare(LockName lock) {
    return new Outcome.Refused(
        RefusalCode.FENCE_STATE,
        "FENCED MONOTONIC BY LOCK '"
            + lock
            + "' has nothing to compare its token with: the statement writes to no table that is"
            + " fenced by that lock");
  }

  private Outcome.Refused passedBy(Fence fence, LockName lock, long token) {
    audit.refused(session, RefusalCode.TOKEN_STALE, fence.table(), lock, token);
    return new Outcome.Refused(
        RefusalCode.TOKEN_STALE,
        "write refused: token "
            + token
            + " of lock '"
            + lock
            + "' is stale, because table "
            + fence.table()
            + " has been written under token "
            + fence.highestToken()
            + "; release the lock and acquire it again for a later token");
  }

  private Outcome.Refused stale(@Nullable Fence fence, PresentedToken presented) {
    return stale("", fence == null ? null : fence.table(), presented);
  }

  private Outcome.Refused staleForRow(FenceId id, PresentedToken presented) {
    return stale(", which fences " + rowOf(id) + ",", fences.existing(id).table(), presented);
  }

  private Outcome.Refused stale(
      String fenced, @Nullable TableName table, PresentedToken presented) {
    LockName lock = presented.lock();
    audit.refused(session, RefusalCode.TOKEN_STALE, table, lock, presented.token());
    boolean issued = presented.token() > 0 && presented.token() <= locks.lastToken();
    return new Outcome.Refused(
        RefusalCode.TOKEN_STALE,
        "write refused: token "
            + presented.token()
            + " of lock '"
            + lock
            + "'"
            + fenced
            + " is stale, "
            + (issued ? holderOf(lock) : "no such token was ever issued")
            + (presented.equals(session.fence()) ? fencesTheSession(presented) : ""));
  }

  private static String fencesTheSession(PresentedToken fence) {
    return "; SET FENCED BY LOCK '"
        + fence.lock()
        + "' TOKEN "
        + fence.token()
        + " fences all writes of this session: set the token under which the lock is held now, or"
        + " end that with SET NOT FENCED";
  }

  private String andOthers(LockName lock) {
    Lock found = locks.find(lock);
    int others = found == null ? 0 : found.holders() - 1;
    return others == 0 ? "" : " and " + others + (others == 1 ? " other lease" : " other leases");
  }

  private String holderOf(LockName lock) {
    Hold hold = locks.exclusiveHold(lock);
    if (hold != null) {
      return "the lock is held under token "
          + hold.token()
          + " by "
          + hold.lease().owner()
          + andOthers(lock);
    }
    Lock found = locks.find(lock);
    if (found == null || !found.isHeld()) {
      return "nobody holds the lock now";
    }
    Hold kept = found.oldestHold();
    return found.mode() == LockMode.SHARED || kept == null
        ? "the lock is held in shared mode, which allows nobody to write"
        : "nobody holds the lock now: lease "
            + kept.lease().id()
            + " keeps it from others for a while";
  }
}
