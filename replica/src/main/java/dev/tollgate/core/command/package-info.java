/**
 * What stands in the log and what comes of it: commands and operations, outcomes and notices, and
 * the words they are made of. All of it is immutable, and nothing of it knows the state.
 */
@NullMarked
package dev.tollgate.core.command;

import org.jspecify.annotations.NullMarked;
