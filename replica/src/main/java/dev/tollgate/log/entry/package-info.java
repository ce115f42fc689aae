/**
 * Commands as bytes: what stands in the log, and what waits to stand there. All of it is immutable,
 * but for the listeners of a proposal.
 */
@NullMarked
package dev.tollgate.log.entry;

import org.jspecify.annotations.NullMarked;
