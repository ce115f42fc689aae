/** Fences on tables and rows: which tables a statement writes, and under which locks. */
@NullMarked
package dev.tollgate.store.fence;

import org.jspecify.annotations.NullMarked;
