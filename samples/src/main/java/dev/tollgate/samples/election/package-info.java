/** A program of which several processes run, and one at a time leads. */
@NullMarked
package dev.tollgate.samples.election;

import org.jspecify.annotations.NullMarked;
