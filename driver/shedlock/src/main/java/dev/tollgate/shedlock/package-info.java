/**
 * Locks of Tollgate for scheduled tasks of ShedLock. {@link
 * dev.tollgate.shedlock.TollgateLockProvider} is what an application gives to ShedLock; a running
 * task asks {@link dev.tollgate.shedlock.TollgateShedLock} for its fencing token.
 */
@NullMarked
package dev.tollgate.shedlock;

import org.jspecify.annotations.NullMarked;
