/**
 * What clients, probes and the machinery saw of a run, and whether that is possible. Pure: nothing
 * here starts, waits or reads a clock.
 *
 * <p>All times are nanoseconds since the run began, on the machine's one monotonic clock.
 */
@NullMarked
package dev.tollgate.samples.torture.history;

import org.jspecify.annotations.NullMarked;
