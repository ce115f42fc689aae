/**
 * The H2 database as Tollgate uses it: its values, errors, times and numbers. Classes whose names
 * begin with H2 access what no interface of H2 gives.
 */
@NullMarked
package dev.tollgate.store.h2;

import org.jspecify.annotations.NullMarked;
