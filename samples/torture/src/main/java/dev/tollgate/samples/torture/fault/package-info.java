/** The faults, and the order in which they come. */
@NullMarked
package dev.tollgate.samples.torture.fault;

import org.jspecify.annotations.NullMarked;
