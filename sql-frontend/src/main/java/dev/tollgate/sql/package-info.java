/**
 * The SQL front-end: text in, plan out. {@link dev.tollgate.sql.SqlFrontend} is the way in, {@link
 * dev.tollgate.sql.Plan} is what comes out, and {@link dev.tollgate.sql.SqlRefused} says why
 * nothing comes out.
 *
 * <p>No state but a cache, no I/O, no catalog. Calcite is an implementation detail: none of its
 * types shows in a public signature of this package.
 */
@NullMarked
package dev.tollgate.sql;

import org.jspecify.annotations.NullMarked;
