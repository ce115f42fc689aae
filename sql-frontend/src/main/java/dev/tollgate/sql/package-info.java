/**
 * The SQL front-end, which turns the text of a statement into a plan. {@link
 * dev.tollgate.sql.SqlFrontend} is the entry point, {@link dev.tollgate.sql.Plan} is the result,
 * and {@link dev.tollgate.sql.SqlRefused} says why there is none.
 *
 * <p>The package has no state but a cache, no I/O and no catalog. Calcite is an implementation
 * detail: none of its types shows in a public signature of this package.
 */
@NullMarked
package dev.tollgate.sql;

import org.jspecify.annotations.NullMarked;
