/**
 * The protocol between a client and a node: frames, messages, and the SQLStates that they carry.
 * Written down for other implementations in docs/protocol.md.
 *
 * <p>Nothing here does I/O or knows a SQL type; values travel as bytes that {@code
 * dev.tollgate.value} reads and writes.
 */
@NullMarked
package dev.tollgate.wire;

import org.jspecify.annotations.NullMarked;
