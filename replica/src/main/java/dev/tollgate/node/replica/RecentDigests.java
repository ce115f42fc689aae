package dev.tollgate.node.replica;

import dev.tollgate.core.command.AppliedDigest;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Limits;
import dev.tollgate.log.StateDiffersException;
import dev.tollgate.log.entry.Entry;
import java.util.Arrays;

/**
 * The digests of this replica after its last {@link Limits#RECENT_DIGESTS} entries, to compare with
 * those that leaders have put into the log. A digest of a leader that is older than these, or from
 * before the snapshot with which this replica began, is not compared. Belongs to the apply thread.
 */
final class RecentDigests {
  private final String nodeId;
  private final long[] indexes = new long[Limits.RECENT_DIGESTS];
  private final long[] values = new long[Limits.RECENT_DIGESTS];
  private final String[] kinds = new String[Limits.RECENT_DIGESTS];
  private long lastEqual;

  RecentDigests(String nodeId) {
    this.nodeId = nodeId;
  }

  private static int place(long logIndex) {
    return (int) (logIndex % Limits.RECENT_DIGESTS);
  }

  /** Forgets all but the digest of a snapshot. */
  void begin(AppliedDigest digest) {
    Arrays.fill(indexes, 0);
    lastEqual = 0;
    remember(digest, "a snapshot");
  }

  void remember(AppliedDigest digest, Entry entry) {
    remember(digest, kindOf(entry));
  }

  private void remember(AppliedDigest digest, String kind) {
    int place = place(digest.logIndex());
    indexes[place] = digest.logIndex();
    values[place] = digest.value();
    kinds[place] = kind;
  }

  private static String kindOf(Entry entry) {
    int count = entry.commands().size();
    if (count == 0) {
      return "no command";
    }
    Command last = entry.commands().get(count - 1);
    return last.getClass().getSimpleName();
  }

  /**
   * Compares a digest of the leader with this replica's.
   *
   * @throws StateDiffersException if they differ
   */
  void compare(AppliedDigest leaders) {
    long logIndex = leaders.logIndex();
    int place = place(logIndex);
    if (leaders.isNone() || indexes[place] != logIndex) {
      return;
    }
    if (values[place] != leaders.value()) {
      throw new StateDiffersException(describe(leaders, values[place], kinds[place]));
    }
    lastEqual = logIndex;
  }

  private String describe(AppliedDigest leaders, long own, String kind) {
    return "THIS REPLICA DIFFERS: after log entry "
        + leaders.logIndex()
        + " (its last command: "
        + kind
        + ") node "
        + nodeId
        + " has the digest "
        + Long.toHexString(own)
        + ", and the leader had "
        + Long.toHexString(leaders.value())
        + "; "
        + (lastEqual == 0
            ? "no digest was compared before"
            : "the last that were equal are those after entry " + lastEqual)
        + ". The leader has answered clients, so it is right, and the data of this node are not to"
        + " be trusted";
  }
}
