/** Benchmarks within the package, because what they measure is not public. */
@NullMarked
package dev.tollgate.store;

import org.jspecify.annotations.NullMarked;
