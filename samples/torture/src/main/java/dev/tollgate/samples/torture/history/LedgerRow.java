package dev.tollgate.samples.torture.history;

/**
 * A write as the store keeps it.
 *
 * @param position rises with the place in the log
 * @param held the token under which the lock was held where this write took effect, as the store
 *     itself evaluated it there; 0 if no client held it
 * @param client the client that wrote the row
 * @param operation the number of the call of this client
 */
public record LedgerRow(
    long position,
    String resource,
    long sequence,
    long token,
    long held,
    String client,
    int operation) {}
