/**
 * The SQL database of a replica: H2 in memory, driven by one applying thread so that equal logs
 * give equal databases, and read by others without touching that.
 *
 * <p>H2 is known in this package only; what is not its public API is touched in {@link
 * dev.tollgate.store.H2Internals}.
 */
@NullMarked
package dev.tollgate.store;

import org.jspecify.annotations.NullMarked;
