/**
 * SQL values, their types, and rows, as bytes of the protocol and of the log. Both sides use this
 * one codec: the driver's JDBC classes and the node's store. Its numbers are its own and documented
 * in docs/protocol.md, so that they outlive any version of H2; its input may come from a stranger.
 */
@NullMarked
package dev.tollgate.value;

import org.jspecify.annotations.NullMarked;
