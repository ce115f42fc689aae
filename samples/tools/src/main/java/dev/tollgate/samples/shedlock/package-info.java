/** ShedLock: a scheduled task that runs in one process at a time, and writes under its token. */
@NullMarked
package dev.tollgate.samples.shedlock;

import org.jspecify.annotations.NullMarked;
