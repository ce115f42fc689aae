package dev.tollgate.samples.torture.history;

/**
 * A write as the store keeps it.
 *
 * @param position rises with the place in the log
 * @param held the token under which the lock was held where this write took effect, as the store
 *     itself evaluated it there; 0 if nobody held it
 * @param client who wrote it
 * @param operation the number of that call of this client
 */
public record LedgerRow(
    long position,
    String resource,
    long sequence,
    long token,
    long held,
    String client,
    int operation) {}
