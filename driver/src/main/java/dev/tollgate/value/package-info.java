/**
 * The encoding of SQL values, types and rows in the protocol and in the log. Both sides use this
 * one codec: the driver's JDBC classes and the node's store. Its numbers are its own, documented in
 * docs/protocol.md, so that they outlive any version of H2. Its input is not trusted.
 */
@NullMarked
package dev.tollgate.value;

import org.jspecify.annotations.NullMarked;
