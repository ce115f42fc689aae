/** The program: its options, and the course of a run. */
@NullMarked
package dev.tollgate.samples.torture;

import org.jspecify.annotations.NullMarked;
