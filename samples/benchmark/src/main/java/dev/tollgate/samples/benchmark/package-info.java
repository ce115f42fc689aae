/** Locks of several systems, measured in turns by one program. */
@NullMarked
package dev.tollgate.samples.benchmark;

import org.jspecify.annotations.NullMarked;
