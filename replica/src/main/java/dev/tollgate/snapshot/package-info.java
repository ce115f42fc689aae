/**
 * Snapshots of a replica's whole state, as a stream of bytes: a versioned header, records, and a
 * checksum. This package knows the bytes of the core's state. The store alone knows the bytes of
 * the database between them, and the log knows where the bytes are kept.
 */
@NullMarked
package dev.tollgate.snapshot;

import org.jspecify.annotations.NullMarked;
