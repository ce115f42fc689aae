/**
 * Limits on the cost of a statement: meters and guards within the prepared statement. They count
 * rows, bytes and steps, and no time.
 */
@NullMarked
package dev.tollgate.store.limits;

import org.jspecify.annotations.NullMarked;
