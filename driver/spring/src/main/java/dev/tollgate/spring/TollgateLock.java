package dev.tollgate.spring;

import dev.tollgate.lock.FencedLock;
import java.time.Duration;
import org.springframework.integration.support.locks.DistributedLock;

/**
 * A lock of a {@link TollgateLockRegistry}, for Spring Integration 7. It belongs to the thread that
 * has locked it and is re-entrant. {@link #held} has the fencing token.
 *
 * <p>{@code lock()} and {@code tryLock()} take the lock until {@code unlock()}: heartbeats renew it
 * for as long as the process lives. {@link #lock(Duration)} and {@link #tryLock(Duration,
 * Duration)} take it for a fixed term.
 */
public interface TollgateLock extends FencedLock, DistributedLock {}
