package dev.tollgate.core.command;

/**
 * Names a row of one replica's database, as its store numbers tables and rows. Another replica may
 * number otherwise, so a key is in no log entry, no snapshot, and no checksum.
 */
public record RowKey(int table, long row) {}
