package dev.tollgate.log.peer;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * What members say against this node, each at its own address. One verdict of more than half of the
 * members, without this node, within {@link Limits#VERDICT_SECONDS} counts: so many members can
 * commit an entry, and a removal is an entry. So nothing that one node says counts, and in a
 * cluster of two nothing that the other one says. Thread-safe.
 */
final class Verdicts {
  private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(Limits.VERDICT_SECONDS);

  private record Voice(PeerGuard.Reason verdict, long saidNanos) {}

  private final String self;
  private final PeerGuard.Members members;
  private final LongSupplier nanoTime;

  /** The last verdict of each member. */
  private final Map<String, Voice> voices = new HashMap<>();

  Verdicts(String self, PeerGuard.Members members, LongSupplier nanoTime) {
    this.self = requireNonNull(self, "self");
    this.members = requireNonNull(members, "members");
    this.nanoTime = requireNonNull(nanoTime, "nanoTime");
  }

  /** How many members have to say the same. */
  int needed() {
    return members.current().size() / 2 + 1;
  }

  /**
   * Takes a verdict of a node.
   *
   * @return true if enough members have given it, this one among them
   */
  synchronized boolean isGiven(String nodeId, PeerGuard.Reason verdict) {
    Set<String> current = members.current();
    // a node that is about to be added has no say, nor has one that was removed
    if (nodeId.equals(self) || !current.contains(nodeId)) {
      return false;
    }
    long now = nanoTime.getAsLong();
    voices.put(nodeId, new Voice(verdict, now));
    voices
        .entrySet()
        .removeIf(
            voice ->
                !current.contains(voice.getKey())
                    || now - voice.getValue().saidNanos() > WINDOW_NANOS);
    long same = voices.values().stream().filter(voice -> voice.verdict() == verdict).count();
    return same > current.size() / 2;
  }

  /** Takes back what a node has said, because it has accepted a message since. */
  synchronized void takeBack(String nodeId) {
    voices.remove(nodeId);
  }
}
