package dev.tollgate.log.peer;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.Supervision;
import dev.tollgate.wire.WireWriter;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.server.leader.LogAppender;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a follower has acknowledged in this term, and its log does not have. It may have lost its
 * votes too, so it has to stop. The leader sends it no entries until it has looked itself: once it
 * had the entries again, it could not tell.
 *
 * <p>Ratis 3.3.0 never lowers what a follower counts for a commit, so {@link PeerAppender} does.
 * Thread-safe.
 */
final class LostEntries {
  private static final Logger LOG = LoggerFactory.getLogger(LostEntries.class);
  private static final long NONE = -1;

  private final LogAppender appender;
  private final PeerLink link;
  private final Supervision supervision;

  /** The last entry of which the follower has not said whether its log has it; else NONE. */
  private long asked = NONE;

  /** True while an answer is under way. */
  private boolean asking;

  LostEntries(LogAppender appender, PeerLink link, Supervision supervision) {
    this.appender = requireNonNull(appender, "appender");
    this.link = requireNonNull(link, "link");
    this.supervision = requireNonNull(supervision, "supervision");
    link.noteLostEntries(false);
  }

  /**
   * True if the log of a follower ended before an entry that the follower had acknowledged earlier:
   * entries that a leader has cut off belong to an earlier term.
   *
   * @param acknowledged the last entry acknowledged when the request was sent
   */
  static boolean shownBy(AppendEntriesReplyProto reply, long acknowledged) {
    return reply.getResult() != AppendResult.NOT_LEADER && reply.getNextIndex() <= acknowledged;
  }

  synchronized void suspect(long nextIndex, long acknowledged) {
    if (asked == NONE) {
      LOG.warn(
          "{}: node {} has acknowledged entry {} in this term, and its log ends with entry {}. It"
              + " does not count for a commit before it has the entries again, and is told to stop."
              + " Check its disk, remove it with CALL remove_node, and add a node with another name",
          appender,
          appender.getFollowerId(),
          acknowledged,
          nextIndex - 1);
    }
    asked = Math.max(asked, acknowledged);
    link.noteLostEntries(true);
  }

  /** True until the follower has said that it lacks nothing. */
  synchronized boolean isAsking() {
    return asked != NONE;
  }

  /** Asks the follower, if need be. */
  void ask(@Nullable PeerConnection connection) {
    long index;
    synchronized (this) {
      if (asked == NONE || asking || connection == null) {
        return;
      }
      asking = true;
      index = asked;
    }
    long term = appender.getServer().getInfo().getCurrentTerm();
    supervision.watch(
        "the answer of a follower that lacks entries",
        connection
            .call(
                (call, read) ->
                    Frame.of(
                        Frame.Kind.LOST,
                        call,
                        read,
                        new WireWriter(2 * Long.BYTES).i64(term).i64(index)))
            .handle(
                (answer, failure) -> {
                  answered(index, failure == null && !answer.body().flag());
                  return null;
                }));
  }

  private synchronized void answered(long index, boolean hasAll) {
    asking = false;
    if (hasAll && asked == index) {
      LOG.info("{}: node {} has entry {}", appender, appender.getFollowerId(), index);
      asked = NONE;
      link.noteLostEntries(false);
    }
  }
}
