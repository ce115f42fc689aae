/**
 * The replicated state and the only code that may change it: leases, locks, fencing tokens,
 * sessions and fences, as plain Java.
 *
 * <p>Everything here is a function of the log alone. There is no clock, no random source, no
 * thread, no I/O and no hash order: two replicas that applied the same entries hold equal state.
 * Time is the leader's time stamp in the entry. Only the apply thread calls this code; nothing here
 * is thread-safe.
 */
@NullMarked
package dev.tollgate.core;

import org.jspecify.annotations.NullMarked;
