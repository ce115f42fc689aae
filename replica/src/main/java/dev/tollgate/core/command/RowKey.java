package dev.tollgate.core.command;

/**
 * Names a row of one replica's database, as that replica's store numbers tables and rows. Another
 * replica may number them differently, so a key is in no log entry, no snapshot, and no checksum.
 */
public record RowKey(int table, long row) {}
