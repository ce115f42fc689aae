/**
 * What a statement may cost: meters and guards within the prepared statement, which count rows,
 * bytes and steps, and no time.
 */
@NullMarked
package dev.tollgate.store.limits;

import org.jspecify.annotations.NullMarked;
