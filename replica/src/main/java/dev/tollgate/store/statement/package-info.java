/**
 * A running H2 statement and what it asks: its meter, the lock state, and the gate that makes it
 * wait for queries.
 */
@NullMarked
package dev.tollgate.store.statement;

import org.jspecify.annotations.NullMarked;
