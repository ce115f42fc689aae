package dev.tollgate.lock;

/**
 * What a {@link LockClient} has at one moment, as far as the process itself knows.
 *
 * @param leases that are alive, those of requests that wait among them, but not those that are kept
 *     for the next locks
 * @param locks that are held, whichever leases hold them
 * @param waiting requests that wait for locks, those of candidates for leadership among them; at
 *     most {@link LockLimits#WAITING_REQUESTS}
 * @param leading elections that a candidate of this client leads
 */
public record LockCounts(int leases, int locks, int waiting, int leading) {}
