package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.wire.SqlState;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One grant of a lock, until {@link #close}. Belongs to no thread and to no connection.
 * Thread-safe.
 *
 * <p>{@link #isHeld} is what this process can prove by its lease and its clock. What counts is that
 * the store refuses a write under a {@link #token} that is not current: present it with each write.
 */
public final class HeldLock implements AutoCloseable {
  private final LockClient client;
  private final Lease lease;
  private final String name;
  private final long token;
  private final boolean shared;
  private final HoldLife life;
  private volatile @Nullable Consumer<HeldLock> movedTo;

  HeldLock(LockClient client, Lease lease, String name, long token, boolean shared) {
    this.client = requireNonNull(client, "client");
    this.lease = requireNonNull(lease, "lease");
    this.name = requireNonNull(name, "name");
    this.token = token;
    this.shared = shared;
    this.life =
        new HoldLife(
            lease, name, new LossListeners(client.threads().listeners(), toString(), this::lost));
  }

  /**
   * Learns from the cluster from now on if the lock is lost.
   *
   * @param sentNanos a moment before the request for the lock was sent
   */
  void watch(long sentNanos) {
    life.watchedBy(
        lease.watchLock(
            token, Duration.ofNanos(System.nanoTime() - sentNanos), life::noticeRelease));
  }

  /**
   * Tells of the lock that takes the place of this one, and then of the one that takes its place,
   * until the lock ends.
   *
   * @param told must be quick, and nothing of the application's
   */
  void whenMoved(Consumer<HeldLock> told) {
    movedTo = told;
  }

  private void inheritFrom(HeldLock former) {
    life.inheritFrom(former.life);
    Consumer<HeldLock> told = former.movedTo;
    if (told != null) {
      movedTo = told;
      told.accept(this);
    }
  }

  public String name() {
    return name;
  }

  /** The fencing token: positive, and higher with every grant in the cluster. */
  public long token() {
    return token;
  }

  /** The lease under which the lock is held; its end is the end of the lock. */
  public Lease lease() {
    return lease;
  }

  /**
   * True if this process can prove that its lease is alive, has not released the lock, and has not
   * been told by the cluster that the lock is lost. The cluster tells at once, whoever has released
   * the lock; after a change of leaders, as soon as the next one is found. Asks no node.
   */
  public boolean isHeld() {
    return life.goesOn() && lease.isAlive();
  }

  /**
   * Returns if {@link #isHeld}. Asks no node.
   *
   * @throws LockLostException if the lock is lost, or cannot be proven
   * @throws IllegalStateException if this lock was closed or transferred
   */
  public void assertHeld() {
    requireOpen();
    if (!isHeld()) {
      throw lost(life.isTaken() ? HoldLife.TAKEN : "its lease has ended, or cannot be proven");
    }
  }

  private void requireOpen() {
    if (life.isClosed()) {
      throw new IllegalStateException(
          "lock '" + name + "' was held under token " + token + " and is closed");
    }
  }

  private LockLostException lost(String why) {
    return new LockLostException(lossMessage(why));
  }

  private String lossMessage(String why) {
    return "lock '" + name + "' is no longer held under token " + token + ": " + why;
  }

  /**
   * Calls a listener once if the lock is lost before it is closed; at once if it is lost already.
   * In contrast to {@link Lease#onLost}, also if the cluster has released this lock and the lease
   * has others. Listeners run on threads of the client, which do nothing else; those of one lock
   * run one after the other. A call that is due when the lock is closed is made.
   *
   * @throws IllegalStateException if the lock has {@link LockLimits#LISTENERS} listeners
   * @throws LockException if the client has {@link LockLimits#LISTENER_LANES} listeners elsewhere
   */
  public void onLost(Consumer<LockLostException> listener) {
    life.onLost(requireNonNull(listener, "listener"));
  }

  /**
   * Asks the cluster whether the lock is held: the answer is true of a moment after the call began,
   * which {@link #isHeld} does not promise. One round trip. Connections with another {@code
   * readConsistency} than linearizable, the default, may give an older answer.
   *
   * @throws LockLostException if it is not held
   * @throws LockException if the cluster does not answer
   */
  public void confirm() {
    assertHeld();
    try {
      if (!client.calls().holds(name, token)) {
        life.markTaken();
        throw lost(HoldLife.TAKEN);
      }
    } catch (SQLException e) {
      throw LockException.of("lock '" + name + "' is not confirmed", e);
    }
  }

  /**
   * Runs work in a transaction of which Tollgate refuses each write, and the commit, unless the
   * lock is held under this token at that moment. Rolls back if the work throws anything. Uses a
   * connection of the client's own, which nothing else has used after such work, or one of the
   * application's pool. A client has connections of its own for {@link LockLimits#WORKS} works. A
   * lock that is held {@link LockOptions#shared} lets no work write.
   *
   * <p>The work's connection is closed when the work has returned, with all that was made from it.
   * A call that the work has left behind in another thread may take 2 s more. If it takes longer,
   * nothing is committed, and the session ends. If the work calls {@code unwrap}, the session ends
   * after the work, so that a pool has to open another connection.
   *
   * @throws E if the work throws it
   * @throws LockLostException if the lock is lost, whether this process or the cluster finds the
   *     loss; nothing was written then, except what the work has committed itself, by {@code
   *     commit()}, {@code setAutoCommit(true)} or a definition. If a statement was refused, its
   *     SQLException with 23T01 is the cause, whatever the work has made of it; what the work has
   *     thrown is suppressed
   * @throws SQLException with 08007 if it is unknown whether the transaction was committed. With
   *     23T01 if the lock is held and the token of another one is refused, if the cluster does not
   *     say which, or if the lock is held shared and the work writes. With 25001 if the data source
   *     lends a connection with an open transaction, and with 55T03 if it lends one that {@code SET
   *     FENCED} has fenced: the work is not run then. With 57014 if a call that was left behind did
   *     not end, with 08006 if the work has closed its connection, and with 53300 if as many works
   *     run as may
   */
  public <R, E extends Exception> R run(FencedWork<R, E> work) throws SQLException, E {
    requireNonNull(work, "work");
    assertHeld();
    FencedTransaction transaction = new FencedTransaction(this, client.connections());
    try {
      return transaction.run(work);
    } catch (Exception e) {
      SQLException refused = transaction.refusal();
      if (refused != null) {
        requireHeldDespite(refused, e);
        requireNotShared(refused, e);
      }
      throw e;
    }
  }

  private void requireNotShared(SQLException refused, Exception thrown) throws SQLException {
    if (!shared) {
      return;
    }
    SQLException clear =
        new SQLException(
            this
                + " is held shared, and a write in HeldLock.run needs the lock exclusively: acquire"
                + " it without LockOptions.shared()",
            SqlState.STALE_TOKEN.state(),
            SqlState.STALE_TOKEN.vendorCode(),
            refused);
    if (thrown != refused) {
      clear.addSuppressed(thrown);
    }
    throw clear;
  }

  /** A refused token may be that of another lock. */
  private void requireHeldDespite(SQLException refused, Exception thrown) {
    try {
      confirm();
    } catch (LockLostException e) {
      LockLostException lost =
          new LockLostException(requireNonNull(e.getMessage(), "message"), refused);
      lost.addSuppressed(e);
      if (thrown != refused) {
        lost.addSuppressed(thrown);
      }
      throw lost;
    } catch (LockException | IllegalStateException e) {
      thrown.addSuppressed(e);
    }
  }

  /**
   * Releases the lock, which no lease is granted before this time is over.
   *
   * @param keep from zero to 24 h
   * @throws LockLostException if the lock was lost before; then it is not kept either
   * @throws LockException if the cluster does not answer; then the lock is released when its lease
   *     expires
   */
  public void releaseAfter(Duration keep) {
    LockOptions.requireKeep(keep);
    assertHeld();
    if (!end()) {
      requireOpen();
    }
    boolean answered = false;
    String why = "the call has failed";
    try {
      boolean released = client.calls().release(name, lease.id(), keep);
      answered = true;
      if (!released) {
        throw lost(HoldLife.TAKEN);
      }
    } catch (SQLException e) {
      why = String.valueOf(e.getMessage());
      throw LockException.of("lock '" + name + "' is not released", e);
    } finally {
      if (!answered) {
        giveUpRelease(why);
      }
      lease.forgetHold(name);
    }
  }

  /** The cluster may have released the lock, and keeps it: revoking a lease might end that. */
  private void giveUpRelease(String why) {
    if (lease.isOfLocks()) {
      lease.leave();
    } else {
      lease.lose("lock '" + name + "' could not be released: " + why);
    }
  }

  /**
   * Hands the lock to another lease of the same client, without a moment in which it is free. This
   * object is closed, and its token is no longer valid.
   *
   * @return the lock under the other lease, with a higher token
   * @throws IllegalArgumentException if the lease belongs to another client
   * @throws LockLostException if the lock, or one of the leases, is lost
   * @throws LockException if the cluster refuses or does not answer. If the lock may have been
   *     transferred all the same, both leases are given up
   */
  public HeldLock transferTo(Lease other) {
    if (!requireNonNull(other, "other").belongsTo(client)) {
      throw new IllegalArgumentException(other + " belongs to another lock client");
    }
    HeldLock successor = moveTo(other);
    end();
    lease.forgetHold(name);
    successor.assertHeld();
    return successor;
  }

  private HeldLock moveTo(Lease other) {
    assertHeld();
    other.locks().reserve(List.of(name));
    boolean moved = false;
    long sentNanos = System.nanoTime();
    life.beginMove();
    try {
      Optional<Long> granted = client.calls().transfer(name, lease.id(), other.id());
      if (granted.isEmpty()) {
        life.markTaken();
        throw lost(HoldLife.TAKEN);
      }
      moved = true;
      other.locks().markHeld(List.of(name));
      HeldLock successor = new HeldLock(client, other, name, granted.get(), shared);
      successor.watch(sentNanos);
      return successor;
    } catch (SQLException e) {
      if (SqlState.LEASE_GONE.state().equals(e.getSQLState())) {
        // nothing happened: if this lock is held, it is the other lease that has ended
        confirm();
        other.lose("the cluster has ended it");
        other.assertAlive();
      }
      if (LockCalls.isUnknown(e)) {
        other.lose("lock '" + name + "' may have been transferred to it: " + e.getMessage());
        lease.lose("lock '" + name + "' may have been transferred from it: " + e.getMessage());
      }
      throw LockException.of("lock '" + name + "' is not transferred", e);
    } finally {
      if (!moved) {
        other.locks().free(List.of(name));
        life.endMove();
      }
    }
  }

  /**
   * Extends the lock to a term from the moment at which this method was called. If the term is the
   * ttl of the lease, the lease is renewed, and with it all of its locks; the cluster is asked
   * whether the lock is held. Of two threads that extend at once, one may fail. Any other term
   * needs another lease: the lock moves to it under a higher token, without a moment in which it is
   * free, the listeners for its loss move too, and this object is closed.
   *
   * @return this lock, or the one that takes its place
   * @throws LockLostException if the lock is lost; then nothing is extended
   * @throws IllegalStateException if the lock is closed, or if the term is another one and the lock
   *     shares its lease with other locks
   * @throws LockException if the cluster does not answer. The lock then ends as if it had not been
   *     extended, or at once if it may have moved
   */
  public HeldLock extend(Duration term) {
    LockOptions.requireTtl(term);
    assertHeld();
    if (term.equals(lease.ttl())) {
      lease.extend();
      confirm();
      return this;
    }
    if (!lease.isOfLocks() || lease.locks().count() > 1) {
      throw new IllegalStateException(
          this
              + " shares "
              + lease
              + " with others: extend it by the ttl of the lease, "
              + lease.ttl());
    }
    return moveToOwn(client.leases().like(lease, term));
  }

  /**
   * Has this lock last at least as long as one that was granted now with these options. A lock that
   * heartbeats renew does. One with a fixed term is extended by its own term if that is enough, so
   * that it keeps its token; otherwise it moves to another lease under a higher one.
   *
   * @return this lock, or the one that takes its place
   * @throws LockLostException if the lock is lost
   * @throws LockException if the cluster does not answer
   */
  HeldLock prolong(LockOptions options) {
    assertHeld();
    if (!lease.isFixed()) {
      return this;
    }
    Duration wanted = options.ttl().orElse(LockClient.DEFAULT_TTL);
    if (!options.isFixedTerm()) {
      String owner = lease.owner().isEmpty() ? null : lease.owner();
      return moveToOwn(client.leases().create(wanted, owner, lease.margin(), /* ofLocks= */ true));
    }
    if (lease.remaining().compareTo(wanted) >= 0) {
      return this;
    }
    return extend(wanted.compareTo(lease.ttl()) > 0 ? wanted : lease.ttl());
  }

  /** Moves to a lease that exists for this lock alone, as this one does. */
  private HeldLock moveToOwn(Lease next) {
    boolean moved = false;
    try {
      HeldLock successor = moveTo(next);
      moved = lease.bequeathTo(next);
      if (moved) {
        successor.inheritFrom(this);
      }
      if (!moved || !end()) {
        successor.close();
        requireOpen();
        throw lost("its lease ended while it was extended");
      }
      lease.close();
      successor.assertHeld();
      return successor;
    } finally {
      if (!moved) {
        next.discard();
      }
    }
  }

  /**
   * Releases the lock, and no other lock of its lease. If the cluster does not answer, the lock is
   * released when its lease expires: the lease is not kept alive any longer. Never throws; does
   * nothing if the lock is closed or lost.
   */
  @Override
  public void close() {
    release();
  }

  /** As {@link #close}; returns false if the lock was lost before, as far as that is known. */
  boolean release() {
    // first: whatever is thrown from here on, the lock is not renewed any more
    if (!end()) {
      return false;
    }
    boolean held = lease.isAlive();
    return lease.release(List.of(name)) && held && !life.isTaken();
  }

  /** Returns false if this object was closed before. */
  boolean end() {
    return life.end();
  }

  @Override
  public String toString() {
    return "lock '" + name + "' under token " + token;
  }
}
