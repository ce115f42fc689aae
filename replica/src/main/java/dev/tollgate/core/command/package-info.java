/**
 * The content of the log and its results: commands and operations, outcomes and notices, and the
 * types they consist of. All of it is immutable, and none of it knows the state.
 */
@NullMarked
package dev.tollgate.core.command;

import org.jspecify.annotations.NullMarked;
