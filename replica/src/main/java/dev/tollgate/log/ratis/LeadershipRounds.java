package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.ReplicatedLog;
import dev.tollgate.log.Supervision;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Proves without an entry that a node leads. The node notes how far its log is committed. Then a
 * majority of the voters, including this node, says that it is still in the term of this leader. A
 * later leader needs a majority that has left that term, so there was none when the round began.
 * This is Raft's ReadIndex; docs/adr/0028 has the proof, and says why Ratis's own will not do.
 *
 * <p>One round is under way at a time, and all callers that arrive meanwhile share the next. An
 * answer counts only for callers that asked before it was given. A node that owes an answer is not
 * asked again until it has answered, so a slow node costs neither time nor messages. There is no
 * thread and no clock here: {@link Group#termOf} bounds how long a round takes. Thread-safe.
 */
public final class LeadershipRounds {
  private static final Logger LOG = LoggerFactory.getLogger(LeadershipRounds.class);

  /**
   * The leadership of a node, as that node sees it.
   *
   * @param term the term in which the node leads
   * @param configurationIndex the log index of the members
   * @param followers all voters except this node, which is a voter too
   * @param committed the last entry that is known to be committed
   */
  public record Leadership(
      long term, long configurationIndex, SortedSet<String> followers, long committed) {
    public Leadership {
      followers = Collections.unmodifiableSortedSet(new TreeSet<>(followers));
    }

    private boolean isThatOf(@Nullable Leadership later) {
      return later != null
          && term == later.term
          && configurationIndex == later.configurationIndex
          && followers.equals(later.followers);
    }

    private int majority() {
      return (followers.size() + 1) / 2 + 1;
    }
  }

  /** The group that a node may lead. */
  public interface Group {
    /**
     * Returns what this node leads, at this moment.
     *
     * @return null if this node does not lead, has not applied an entry of its own term yet, or has
     *     no vote. Also null if the members are about to change: then two majorities would have to
     *     be counted.
     */
    @Nullable Leadership leadership();

    /**
     * Asks another node for its term. A node that has voted in a term must not answer with an
     * earlier term, not even after a restart.
     *
     * @return completes within the time for an election, exceptionally if there is no answer
     */
    CompletableFuture<Long> termOf(String nodeId);
  }

  /** A question to all followers, and the callers that wait for the answers. */
  private static final class Round {
    final List<CompletableFuture<OptionalLong>> askers;
    final Leadership leadership;

    /** The followers that owed an answer to an earlier round when this one began. */
    final Set<String> unasked = new HashSet<>();

    int confirmed = 1;
    int pending;

    Round(List<CompletableFuture<OptionalLong>> askers, Leadership leadership) {
      this.askers = askers;
      this.leadership = leadership;
      this.pending = leadership.followers().size();
    }

    boolean isConfirmed() {
      return confirmed >= leadership.majority();
    }

    boolean isOver() {
      return isConfirmed() || confirmed + pending < leadership.majority();
    }
  }

  private final Group group;
  private final Supervision supervision;
  private final ReentrantLock mutex = new ReentrantLock();
  private final Set<String> owing = new HashSet<>();
  private List<CompletableFuture<OptionalLong>> waiting = new ArrayList<>();
  private boolean underWay;
  private @Nullable Round round;

  public LeadershipRounds(Group group, Supervision supervision) {
    this.group = requireNonNull(group, "group");
    this.supervision = requireNonNull(supervision, "supervision");
  }

  /** See {@link ReplicatedLog#readIndex}. */
  public CompletableFuture<OptionalLong> readIndex() {
    CompletableFuture<OptionalLong> asker = new CompletableFuture<>();
    boolean first;
    mutex.lock();
    try {
      waiting.add(asker);
      first = !underWay;
      underWay = true;
    } finally {
      mutex.unlock();
    }
    if (first) {
      beginNext();
    }
    return asker;
  }

  /** Begins rounds for the waiting callers, until a round has to wait itself. */
  private void beginNext() {
    while (true) {
      List<CompletableFuture<OptionalLong>> askers;
      mutex.lock();
      try {
        askers = waiting;
        waiting = new ArrayList<>();
        underWay = !askers.isEmpty();
      } finally {
        mutex.unlock();
      }
      if (askers.isEmpty()) {
        return;
      }
      // after all of these callers have asked, and before any follower is asked
      Leadership leadership = leadership();
      if (leadership != null) {
        begin(new Round(askers, leadership));
        return;
      }
      askers.forEach(asker -> asker.complete(OptionalLong.empty()));
    }
  }

  /** Returns null after an exception, so that no caller waits forever because of a bug. */
  private @Nullable Leadership leadership() {
    try {
      return group.leadership();
    } catch (RuntimeException e) {
      LOG.error("this node cannot tell whether it leads", e);
      return null;
    }
  }

  private void begin(Round next) {
    List<String> asked = new ArrayList<>();
    boolean over;
    mutex.lock();
    try {
      round = next;
      for (String follower : next.leadership.followers()) {
        if (owing.add(follower)) {
          asked.add(follower);
        } else {
          next.unasked.add(follower);
        }
      }
      over = next.isOver();
    } finally {
      mutex.unlock();
    }
    asked.forEach(follower -> ask(next, follower));
    if (over) {
      end(next);
    }
  }

  private void ask(Round asking, String follower) {
    CompletableFuture<Long> answer;
    try {
      answer = group.termOf(follower);
    } catch (RuntimeException e) {
      answer = CompletableFuture.failedFuture(e);
    }
    supervision.watch(
        "the proof of leadership",
        answer.handle(
            (term, failure) -> {
              answered(asking, follower, failure == null && term == asking.leadership.term());
              return null;
            }));
  }

  private void answered(Round asking, String follower, boolean confirms) {
    boolean over = false;
    Round next = null;
    mutex.lock();
    try {
      owing.remove(follower);
      Round current = round;
      if (current == asking) {
        asking.pending--;
        asking.confirmed += confirms ? 1 : 0;
        over = asking.isOver();
      } else if (current != null && current.unasked.remove(follower)) {
        owing.add(follower);
        next = current;
      }
    } finally {
      mutex.unlock();
    }
    if (over) {
      end(asking);
    } else if (next != null) {
      ask(next, follower);
    }
  }

  private void end(Round over) {
    mutex.lock();
    try {
      if (round != over) {
        return;
      }
      round = null;
    } finally {
      mutex.unlock();
    }
    // this node counts itself, so it must not have left its term either
    boolean proven = over.isConfirmed() && over.leadership.isThatOf(leadership());
    OptionalLong index =
        proven ? OptionalLong.of(over.leadership.committed()) : OptionalLong.empty();
    // the first caller to hear of this round may keep the others waiting, but not the next round
    beginNext();
    over.askers.forEach(asker -> asker.complete(index));
  }
}
