/**
 * Locks, leases and leader elections as objects: what an application uses instead of lock functions
 * in SQL.
 *
 * <p>{@link dev.tollgate.lock.LockClient} is the place to start. It creates a {@link
 * dev.tollgate.lock.Lease}, and a {@link dev.tollgate.lock.HeldLock} for each grant. A {@code
 * LockRequest} waits for grants. {@link dev.tollgate.lock.LeaderElection} and the views of {@link
 * java.util.concurrent.locks.Lock} stand on these classes.
 *
 * <p>Nothing is reported as held unless the process can prove it: the control connection of {@code
 * dev.tollgate.transport} renews all leases of the process, and a lease whose proof has ended is
 * lost for good.
 */
@NullMarked
package dev.tollgate.lock;

import org.jspecify.annotations.NullMarked;
