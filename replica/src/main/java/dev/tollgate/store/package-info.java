/**
 * The SQL database of a replica: H2 in memory. One apply thread changes the database, so equal logs
 * give equal databases. Other threads only read it.
 *
 * <p>Only this package and its subpackages know H2. Only {@code store.h2} uses parts of H2 that are
 * not its public API.
 */
@NullMarked
package dev.tollgate.store;

import org.jspecify.annotations.NullMarked;
