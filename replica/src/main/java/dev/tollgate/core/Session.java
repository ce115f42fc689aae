package dev.tollgate.core;

import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.PresentedToken;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TimeZoneName;
import dev.tollgate.core.command.UserName;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What the cluster remembers of a client's connection: enough to continue it on another node, and
 * to answer a resent command. Read it through {@link ClusterState}.
 */
public final class Session {
  /** The schema of a new session. */
  public static final String INITIAL_SCHEMA = "PUBLIC";

  private static final int NAMES_TO_TELL = 10;

  private final KeptAnswers answers;
  private final SessionId id;
  private final ClientInfo client;
  private final long secret;
  private final long ttlMillis;
  private final long leaseTtlMillis;
  private final long openedMicros;
  private final UserName user;
  private final TimeZoneName openingTimeZone;
  private final SortedMap<LockName, Long> presented = new TreeMap<>();

  /** What SET FENCED demands of every write, or null. */
  private @Nullable PresentedToken fence;

  // volatile: event loops read them while entries are applied
  private volatile String schema = INITIAL_SCHEMA;
  private volatile TimeZoneName timeZone;
  private @Nullable Lease ownLease;

  /**
   * While the session has an own lease: the locks that were taken from it by force and that it has
   * not acquired again. Otherwise: the locks that the last own lease held when it ended, until the
   * client has been told.
   */
  private List<LockName> lost = List.of();

  private long lastSequence;

  /** See {@link Command.Perform#content}. */
  private long lastContent;

  private @Nullable Outcome lastOutcome;
  private @Nullable LockName awaited;
  private @Nullable PendingStatement pending;
  private volatile @Nullable Transaction transaction;
  private volatile long lockTimeoutMillis = Limits.LOCK_TIMEOUT_MILLIS;

  /** Why the last transaction was rolled back, until the client has been told. */
  private volatile @Nullable String lostTransaction;

  Session(KeptAnswers answers, SessionId id, Command.OpenSession opening, long openedMicros) {
    this.answers = answers;
    this.id = id;
    this.client = opening.client();
    this.secret = opening.secret();
    this.ttlMillis = opening.ttlMillis();
    this.leaseTtlMillis = opening.leaseTtlMillis();
    this.openedMicros = openedMicros;
    this.user = opening.user();
    this.openingTimeZone = opening.timeZone();
    this.timeZone = openingTimeZone;
  }

  /**
   * A session as it stood in a snapshot.
   *
   * @param ownLease the lease that the state names
   */
  Session(KeptAnswers answers, StateRecord.SessionState state, @Nullable Lease ownLease) {
    this(answers, state.id(), state.opening(), state.openedMicros());
    presented.putAll(state.presented());
    schema = state.schema();
    timeZone = state.timeZone();
    this.ownLease = ownLease;
    lost = state.lost();
    lastSequence = state.lastSequence();
    lastContent = state.lastContent();
    setLastOutcome(state.lastOutcome());
    awaited = state.awaited();
    lockTimeoutMillis = state.lockTimeoutMillis();
    lostTransaction = state.lostTransaction();
  }

  /** The state of the session without its fence and its open transaction. */
  StateRecord.SessionState state() {
    return new StateRecord.SessionState(
        id,
        new Command.OpenSession(
            client,
            secret,
            ttlMillis,
            leaseTtlMillis,
            user,
            Command.OpenSession.ANY_NUMBER,
            openingTimeZone),
        openedMicros,
        schema,
        timeZone,
        presented,
        ownLease == null ? null : ownLease.id(),
        lost,
        lastSequence,
        lastContent,
        lastOutcome,
        awaited(),
        lockTimeoutMillis,
        lostTransaction);
  }

  public SessionId id() {
    return id;
  }

  public ClientInfo client() {
    return client;
  }

  /** For whom the client has authenticated itself. */
  public UserName user() {
    return user;
  }

  /** The number that a client must present to use the session. */
  public long secret() {
    return secret;
  }

  public long ttlMillis() {
    return ttlMillis;
  }

  public long leaseTtlMillis() {
    return leaseTtlMillis;
  }

  /** Log time at which the session was opened, microseconds since 1970. */
  public long openedMicros() {
    return openedMicros;
  }

  /** The schema in which unqualified names are looked up. */
  public String schema() {
    return schema;
  }

  /** The time zone in which the session's statements run. */
  public TimeZoneName timeZone() {
    return timeZone;
  }

  /** The time zone with which the session was opened. */
  public TimeZoneName openingTimeZone() {
    return openingTimeZone;
  }

  /**
   * The session's own lease, or null before the session's first lock and after the lease has ended.
   */
  public @Nullable Lease ownLease() {
    return ownLease;
  }

  /** Number of the last operation, 0 before the first. */
  public long lastSequence() {
    return lastSequence;
  }

  /** The tokens of SET FENCING TOKEN, by lock. */
  public SortedMap<LockName, Long> presented() {
    return Collections.unmodifiableSortedMap(presented);
  }

  /** The lock of SET FENCED, and the token under which it must be held; or null. */
  public @Nullable PresentedToken fence() {
    return fence;
  }

  /** The lock that the last operation waits for, the first of several, or null. */
  public @Nullable LockName awaited() {
    PendingStatement statement = pending;
    return statement == null ? awaited : statement.awaitedLock();
  }

  /** Returns true if the last operation waits for other transactions to end. */
  public boolean isBlocked() {
    return pending != null;
  }

  /** The open transaction, or null. */
  public @Nullable Transaction transaction() {
    return transaction;
  }

  /** How long the session's statements wait for rows of other transactions. */
  public long lockTimeoutMillis() {
    return lockTimeoutMillis;
  }

  /** Why the last transaction was rolled back, if the client does not know yet; else null. */
  public @Nullable String lostTransaction() {
    return lostTransaction;
  }

  void setSchema(String name) {
    schema = name;
  }

  void setTimeZone(TimeZoneName zone) {
    timeZone = zone;
  }

  void setOwnLease(Lease lease) {
    ownLease = lease;
  }

  /** Records that the own lease ended while it held these locks. */
  void ownLeaseEnded(List<LockName> held) {
    ownLease = null;
    lost = List.copyOf(held.subList(0, Math.min(held.size(), Limits.LOST_LOCKS)));
  }

  /** Records that a lock was taken by force from the own lease. */
  void lockTaken(LockName lock) {
    List<LockName> taken = new ArrayList<>(lost);
    taken.remove(lock);
    taken.add(lock);
    lost = List.copyOf(taken.subList(Math.max(0, taken.size() - Limits.LOST_LOCKS), taken.size()));
  }

  /**
   * Forgets that a lock was taken: the own lease requests or releases it, so the past no longer
   * counts.
   */
  void forgetTaken(LockName lock) {
    if (lost.contains(lock)) {
      List<LockName> left = new ArrayList<>(lost);
      left.remove(lock);
      lost = List.copyOf(left);
    }
  }

  /**
   * Returns true if a lock was taken from the own lease by force, or lost with the last own lease.
   */
  boolean hasLost(LockName lock) {
    return lost.contains(lock);
  }

  /**
   * Tells once that locks were lost with the own lease; null if there is nothing to tell. A client
   * that has not noticed the loss must not go on as if it still held them.
   */
  Outcome.@Nullable Refused takeLoss() {
    if (lost.isEmpty()) {
      return null;
    }
    String names =
        lost.size() <= NAMES_TO_TELL
            ? lost.toString()
            : lost.subList(0, NAMES_TO_TELL)
                + " and "
                + (lost.size() - NAMES_TO_TELL)
                + (lost.size() == Limits.LOST_LOCKS ? " or more" : " more");
    lost = List.of();
    return new Outcome.Refused(
        RefusalCode.LEASE_GONE,
        "the connection's own lease has expired or was revoked, and with it went the locks "
            + names
            + "; acquire them again before you write");
  }

  /** Forgets lost locks: the client released its own lease, so nothing was lost. */
  void forgetLoss() {
    lost = List.of();
  }

  void present(LockName lock, long token) {
    presented.put(lock, token);
  }

  void stopPresenting(LockName lock) {
    presented.remove(lock);
  }

  void setFence(@Nullable PresentedToken demanded) {
    fence = demanded;
  }

  /** The outcome of the last operation; null before the first. */
  @Nullable Outcome lastOutcome() {
    return lastOutcome;
  }

  /** The checksum of the last request, as far as it is known. */
  public long lastContent() {
    return lastContent;
  }

  /** Returns false if the last operation came from a request with other content. */
  boolean hasSent(long content) {
    return content == lastContent
        || content == Command.Perform.UNKNOWN_CONTENT
        || lastContent == Command.Perform.UNKNOWN_CONTENT;
  }

  void begin(long sequence, long content) {
    if (sequence <= lastSequence || awaited != null || pending != null) {
      throw new IllegalStateException("session " + id + " cannot begin " + sequence);
    }
    lastSequence = sequence;
    lastContent = content;
  }

  void finish(Outcome outcome) {
    setLastOutcome(outcome);
    awaited = null;
    pending = null;
  }

  private void setLastOutcome(@Nullable Outcome outcome) {
    Outcome before = lastOutcome;
    if (before != null) {
      answers.drop(this, before);
    }
    lastOutcome = outcome;
    if (outcome != null) {
      answers.keep(this, outcome);
    }
  }

  /** Drops the last answer: a client that asks for it again is told so. */
  void giveUpAnswer() {
    lastOutcome =
        new Outcome.Refused(
            RefusalCode.SEQUENCE_PASSED,
            "operation "
                + lastSequence
                + " was carried out, but its answer is no longer kept: the large answers of all"
                + " sessions had more than "
                + Limits.KEPT_ANSWER_BYTES
                + " bytes");
  }

  /** Drops the last answer: the session ends. */
  void forgetAnswer() {
    setLastOutcome(null);
  }

  void waitFor(LockName lock) {
    setLastOutcome(new Outcome.Waiting());
    awaited = lock;
  }

  void waitFor(PendingStatement statement) {
    setLastOutcome(new Outcome.Waiting());
    pending = statement;
  }

  /** Sets the statement that waits in the queue of a lock, as a snapshot has it. */
  void restorePending(PendingStatement statement) {
    awaited = null;
    pending = statement;
  }

  /** The statement that waits for transactions to end, or null. */
  @Nullable PendingStatement pending() {
    return pending;
  }

  void setTransaction(@Nullable Transaction open) {
    transaction = open;
  }

  void setLockTimeoutMillis(long millis) {
    lockTimeoutMillis = millis;
  }

  void loseTransaction(String why) {
    lostTransaction = why;
  }

  void forgetLostTransaction() {
    lostTransaction = null;
  }
}
