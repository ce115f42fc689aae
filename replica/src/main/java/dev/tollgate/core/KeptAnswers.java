package dev.tollgate.core;

import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.Outcome;
import java.util.Comparator;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Bounds the memory of the last answers of all sessions. Small answers are not counted: the number
 * of sessions bounds them. When the other answers exceed the budget, the largest answer of another
 * session is dropped. Of equally large answers, that of the session opened first is dropped.
 *
 * <p>Which answer is dropped follows from the kept answers, so it is the same on every replica,
 * even on one restored from a snapshot.
 */
final class KeptAnswers {
  private record Key(long sizeBytes, long session) {}

  private final SortedMap<Key, Session> large =
      new TreeMap<>(
          Comparator.comparingLong(Key::sizeBytes).reversed().thenComparingLong(Key::session));

  private final long mostBytes;
  private long bytes;

  KeptAnswers(long mostBytes) {
    this.mostBytes = mostBytes;
  }

  /** Counts the new answer of a session, or an answer restored from a snapshot. */
  void keep(Session session, Outcome answer) {
    long size = sizeOf(answer);
    if (size > Limits.SMALL_ANSWER_BYTES) {
      large.put(new Key(size, session.id().value()), session);
      bytes += size;
      while (bytes > mostBytes) {
        giveUpOneBut(session);
      }
    }
  }

  private void giveUpOneBut(Session latest) {
    Map.Entry<Key, Session> victim = null;
    for (Map.Entry<Key, Session> candidate : large.entrySet()) {
      victim = candidate;
      if (candidate.getValue() != latest) {
        break;
      }
    }
    if (victim == null) {
      throw new IllegalStateException("answers of " + bytes + " bytes belong to nobody");
    }
    victim.getValue().giveUpAnswer();
    remove(victim.getKey());
  }

  /** Stops counting an answer that its session no longer keeps. */
  void drop(Session session, Outcome answer) {
    long size = sizeOf(answer);
    if (size > Limits.SMALL_ANSWER_BYTES) {
      remove(new Key(size, session.id().value()));
    }
  }

  private void remove(Key key) {
    if (large.remove(key) == null) {
      throw new IllegalStateException("session " + key.session() + " keeps no large answer");
    }
    bytes -= key.sizeBytes();
  }

  /** The approximate size of an answer's content, in bytes. */
  static long sizeOf(Outcome answer) {
    if (answer instanceof Outcome.Executed executed) {
      return executed.result().sizeBytes();
    }
    if (answer instanceof Outcome.Batch batch) {
      long sum = 0;
      for (Outcome one : batch.outcomes()) {
        sum += sizeOf(one);
      }
      return sum;
    }
    if (answer instanceof Outcome.SqlFailed failed) {
      return 2L * failed.message().length();
    }
    return 0;
  }

  void checkInvariants(SessionTable sessions) {
    long sum = 0;
    for (Session session : sessions.all()) {
      Outcome answer = session.lastOutcome();
      long size = answer == null ? 0 : sizeOf(answer);
      sum += size > Limits.SMALL_ANSWER_BYTES ? size : 0;
    }
    if (sum != bytes) {
      throw new IllegalStateException("answers of " + sum + " bytes are counted as " + bytes);
    }
  }
}
