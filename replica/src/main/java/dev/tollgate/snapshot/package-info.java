/**
 * Snapshots of a replica's whole state, as a stream of bytes: a versioned header, records, and a
 * checksum. Knows what the core's state looks like in bytes; what the database puts between is the
 * store's own business, and where the bytes lie is the log's.
 */
@NullMarked
package dev.tollgate.snapshot;

import org.jspecify.annotations.NullMarked;
