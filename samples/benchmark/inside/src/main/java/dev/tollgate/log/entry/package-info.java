/** Benchmarks within the package, because what they measure is not public. */
@NullMarked
package dev.tollgate.log.entry;

import org.jspecify.annotations.NullMarked;
