/**
 * Database H2 as Tollgate uses it: what no interface of H2 gives, in classes whose names begin with
 * H2, and its values, errors, times and numbers.
 */
@NullMarked
package dev.tollgate.store.h2;

import org.jspecify.annotations.NullMarked;
