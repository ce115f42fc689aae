/**
 * What a node promises to others, line by line, and a checker that knows what no run may promise.
 * Uses the JDK alone. See log/DESIGN.md.
 */
@NullMarked
package dev.tollgate.log.trace;

import org.jspecify.annotations.NullMarked;
