package dev.tollgate.node.client;

import dev.tollgate.core.command.Limits;

/**
 * What clients may ask of one node at a time. A request beyond a limit is refused before anything
 * is done for it; docs/operations.md lists what a client sees.
 *
 * @param queuedPlans statements seen for the first time that wait to be planned
 * @param queuedRehearsals writes that wait until the leader has tried what they read
 * @param rehearsalMillis processor time that the read of a write may take before the write enters
 *     the log
 * @param rehearsalWaitMillis how long a request may wait until the leader tries what its writes
 *     read: as long as one read may take
 * @param queuedCalls lock and lease calls that wait until their arguments are computed
 * @param queuedQueries queries, fetches and descriptions that wait for a thread
 * @param queuedFiles parts of snapshots and procedures that wait for a thread
 * @param requestBytes bytes of large requests that are not answered yet, of all connections, with
 *     what their values take once they are decoded
 * @param requestsPerConnection requests of one connection that are not answered yet
 * @param unreadBytes bytes of replies that one client has not read; a client with more is
 *     disconnected
 * @param unreadBytesInAll bytes of replies that all clients together have not read; beyond that a
 *     client with more than {@link #UNREAD_BYTES_ALWAYS} is disconnected
 * @param heldTransactions transactions that wait to begin while a snapshot needs a gap
 * @param holderWatches requests that wait until the holder of a lock changes
 * @param holderWatchesPerUser the same of one user
 * @param loginAddresses addresses whose failed logins are remembered
 * @param loginUsers users, each at one address, whose failed logins are remembered
 * @param connections what each connection may do, and how many there may be
 */
public record ClientLimits(
    int queuedPlans,
    int queuedRehearsals,
    long rehearsalMillis,
    long rehearsalWaitMillis,
    int queuedCalls,
    int queuedQueries,
    int queuedFiles,
    long requestBytes,
    int requestsPerConnection,
    long unreadBytes,
    long unreadBytesInAll,
    int heldTransactions,
    int holderWatches,
    int holderWatchesPerUser,
    int loginAddresses,
    int loginUsers,
    ConnectionLimits connections) {
  /** The limits that nodes have. */
  public static final ClientLimits STANDARD =
      new ClientLimits(
          10_000,
          1_000,
          5_000,
          5_000,
          10_000,
          10_000,
          1_000,
          requestBytes(Runtime.getRuntime().maxMemory()),
          64,
          48L << 20,
          256L << 20,
          10_000,
          Limits.HOLDER_WATCHES,
          Limits.HOLDER_WATCHES_PER_USER,
          10_000,
          65_536,
          ConnectionLimits.STANDARD);

  /**
   * An eighth of the heap, at most 128 MiB. A request of the largest size has room in any case: a
   * frame of 16 MiB, and 31 MiB for its values.
   */
  static long requestBytes(long heapBytes) {
    return Math.min(128L << 20, Math.max(64L << 20, heapBytes / 8));
  }

  /** Bytes of {@link #requestBytes} that one user may have: half, but a request of any size. */
  long requestBytesOfUser() {
    return Math.min(requestBytes, Math.max(requestBytes / 2, LARGEST_REQUEST_BYTES));
  }

  /** Returns these limits with others for connections. */
  public ClientLimits with(ConnectionLimits other) {
    return with(rehearsalMillis, rehearsalWaitMillis, requestBytes, unreadBytes, other);
  }

  /** Returns these limits with another number of bytes that one client may leave unread. */
  public ClientLimits withUnreadBytes(long bytes) {
    return with(rehearsalMillis, rehearsalWaitMillis, requestBytes, bytes, connections);
  }

  /** Returns these limits with another number of bytes of requests without an answer. */
  public ClientLimits withRequestBytes(long bytes) {
    return with(rehearsalMillis, rehearsalWaitMillis, bytes, unreadBytes, connections);
  }

  /** Returns these limits with another time that the read of a write may take. */
  public ClientLimits withRehearsalMillis(long millis) {
    return with(millis, rehearsalWaitMillis, requestBytes, unreadBytes, connections);
  }

  /** Returns these limits with another time for which a request waits to be tried. */
  public ClientLimits withRehearsalWaitMillis(long millis) {
    return with(rehearsalMillis, millis, requestBytes, unreadBytes, connections);
  }

  private ClientLimits with(
      long rehearsal, long rehearsalWait, long requests, long unread, ConnectionLimits other) {
    return new ClientLimits(
        queuedPlans,
        queuedRehearsals,
        rehearsal,
        rehearsalWait,
        queuedCalls,
        queuedQueries,
        queuedFiles,
        requests,
        requestsPerConnection,
        unread,
        Math.max(unread, unreadBytesInAll),
        heldTransactions,
        holderWatches,
        holderWatchesPerUser,
        loginAddresses,
        loginUsers,
        other);
  }

  /**
   * How long a request waits at most at a node that takes leadership over, in milliseconds. An
   * election that takes longer is lost, or the node has a majority no more.
   */
  public static final int TAKEOVER_MILLIS = 500;

  /** A frame of the largest size, and its values. */
  static final long LARGEST_REQUEST_BYTES = 48L << 20;

  /** A request with fewer bytes does not count toward {@link #requestBytes}. */
  static final int SMALL_REQUEST_BYTES = 64 << 10;

  /** Bytes that a client may leave unread whatever other clients do. */
  static final long UNREAD_BYTES_ALWAYS = 1L << 20;

  /** Longest statement, in characters, that is planned beside lock and lease calls. */
  static final int SHORT_STATEMENT_CHARS = 2_000;
}
