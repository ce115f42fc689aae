/**
 * A statement of H2 while it runs, and what it may ask: its meter, the lock state, and whether it
 * has to wait for queries.
 */
@NullMarked
package dev.tollgate.store.statement;

import org.jspecify.annotations.NullMarked;
