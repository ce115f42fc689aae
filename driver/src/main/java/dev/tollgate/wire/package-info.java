/**
 * The protocol between a client and a node: frames, messages, and the SQLStates that they carry.
 * docs/protocol.md specifies it for other implementations.
 *
 * <p>This package does no I/O and knows no SQL type; values travel as bytes that {@code
 * dev.tollgate.value} reads and writes.
 */
@NullMarked
package dev.tollgate.wire;

import org.jspecify.annotations.NullMarked;
