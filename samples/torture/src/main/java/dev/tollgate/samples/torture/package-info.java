/** The program: what it was asked for, and the course of a run. */
@NullMarked
package dev.tollgate.samples.torture;

import org.jspecify.annotations.NullMarked;
