package dev.tollgate.log.peer;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The requests with entries that are under way to one follower, in the order in which they were
 * sent. Any thread may ask for their number; for all else the caller has a lock.
 */
final class PendingAppends {
  /** Requests under way, once the follower has accepted one. */
  static final int MOST = 8;

  /** Bytes of entries under way, 32 MiB; a larger entry is under way alone. */
  private static final long MOST_BYTES = 32L << 20;

  private record Pending(long callId, long firstIndex, long bytes) {}

  private final Deque<Pending> pending = new ArrayDeque<>();
  private long bytes;
  private volatile int count;

  /** True once the follower has accepted entries that follow those before them. */
  private boolean accepted;

  int count() {
    return count;
  }

  boolean isFull() {
    return pending.size() >= (accepted ? MOST : 1) || bytes >= MOST_BYTES;
  }

  void add(long callId, long firstIndex, long requestBytes) {
    pending.addLast(new Pending(callId, firstIndex, requestBytes));
    bytes += requestBytes;
    count = pending.size();
  }

  boolean contains(long callId) {
    return pending.stream().anyMatch(sent -> sent.callId() == callId);
  }

  /** The first entry without an answer; there has to be one. */
  long firstIndex() {
    return pending.getFirst().firstIndex();
  }

  /** Takes note that a request was answered; false if it is not under way any more. */
  boolean remove(long callId) {
    for (Pending sent : pending) {
      if (sent.callId() == callId) {
        pending.remove(sent);
        bytes -= sent.bytes();
        count = pending.size();
        accepted = true;
        return true;
      }
    }
    return false;
  }

  void clear() {
    pending.clear();
    bytes = 0;
    count = 0;
    accepted = false;
  }
}
