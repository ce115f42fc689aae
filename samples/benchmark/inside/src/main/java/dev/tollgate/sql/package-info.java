/** Benchmarks within the package, because what they measure is not public. */
@NullMarked
package dev.tollgate.sql;

import org.jspecify.annotations.NullMarked;
