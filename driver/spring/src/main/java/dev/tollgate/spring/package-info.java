/**
 * Locks of Tollgate as Spring Integration asks for locks.
 *
 * <p>{@link dev.tollgate.spring.TollgateLockRegistry} is for Spring Integration 7, and {@link
 * dev.tollgate.spring.Integration6LockRegistry} for 6.5, whose interfaces differ. Both are thin:
 * what a thread holds is in the {@link dev.tollgate.lock.LockClient}. The package {@code boot}
 * makes them beans. DESIGN.md of this module has the map.
 */
@NullMarked
package dev.tollgate.spring;

import org.jspecify.annotations.NullMarked;
