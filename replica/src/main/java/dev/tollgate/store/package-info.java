/**
 * The SQL database of a replica: H2 in memory, driven by one applying thread so that equal logs
 * give equal databases, and read by others without touching that.
 *
 * <p>H2 is known in this package and those within it only; what is not its public API is touched in
 * {@code store.h2}.
 */
@NullMarked
package dev.tollgate.store;

import org.jspecify.annotations.NullMarked;
