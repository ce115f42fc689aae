/**
 * Commands as bytes: those in the log, and those that wait to get there. Everything here is
 * immutable, except for the listeners of a proposal.
 */
@NullMarked
package dev.tollgate.log.entry;

import org.jspecify.annotations.NullMarked;
