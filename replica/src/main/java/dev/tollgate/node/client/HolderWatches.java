package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.ClusterState;
import dev.tollgate.core.Hold;
import dev.tollgate.core.Lock;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Text;
import dev.tollgate.node.replica.StateAccess;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Requests that wait until another lease holds a lock. All of them are looked at after each entry,
 * which costs one look into a map for each. Thread-safe; nothing here waits.
 */
final class HolderWatches {
  private static final int MOST = 10_000;

  /** A request; equal to itself only. */
  private static final class Watch {
    final LockName lock;
    final long knownToken;
    final ReplyChannel client;
    final Consumer<Reply> answer;

    Watch(LockName lock, long knownToken, ReplyChannel client, Consumer<Reply> answer) {
      this.lock = lock;
      this.knownToken = knownToken;
      this.client = client;
      this.answer = answer;
    }
  }

  private final StateAccess state;
  private final Leadership leadership;
  private final Set<Watch> watches = ConcurrentHashMap.newKeySet();

  HolderWatches(StateAccess state, Leadership leadership) {
    this.state = requireNonNull(state, "state");
    this.leadership = requireNonNull(leadership, "leadership");
  }

  void await(Request.AwaitHolder request, ReplyChannel client, Consumer<Reply> answer) {
    String name = request.lock();
    if (name.isEmpty() || name.length() > Limits.LOCK_NAME_CHARS || !Text.isWellFormed(name)) {
      answer.accept(
          new Reply.Failure(
              SqlState.INVALID_ARGUMENT,
              "the name of a lock has 1 to " + Limits.LOCK_NAME_CHARS + " whole characters"));
    } else if (watches.size() >= MOST) {
      answer.accept(
          new Reply.Failure(
              SqlState.TOO_MANY,
              "the node has " + MOST + " requests that wait for the holder of a lock"));
    } else {
      begin(new Watch(new LockName(name), request.knownToken(), client, answer));
    }
  }

  private void begin(Watch watch) {
    leadership.awaitState(
        leads -> {
          watches.add(watch);
          if (leads && leadership.isAssumed()) {
            state.ask(now -> answerIfChanged(watch, now));
          } else {
            answer(watch, leadership.notLeader());
          }
        });
  }

  /** An entry was applied. */
  void applied() {
    if (!watches.isEmpty()) {
      state.ask(now -> watches.forEach(watch -> answerIfChanged(watch, now)));
    }
  }

  private void answerIfChanged(Watch watch, ClusterState now) {
    Hold hold = exclusiveHold(now.lock(watch.lock));
    long token = hold == null ? 0 : hold.token().value();
    if (token != watch.knownToken) {
      answer(watch, new Reply.Holder(token, hold == null ? null : hold.lease().owner()));
    }
  }

  private static @Nullable Hold exclusiveHold(@Nullable Lock lock) {
    return lock == null || lock.mode() != LockMode.EXCLUSIVE
        ? null
        : lock.holds().stream().filter(hold -> !hold.onlyKeeps()).findFirst().orElse(null);
  }

  private void answer(Watch watch, Reply reply) {
    if (watches.remove(watch)) {
      watch.answer.accept(reply);
    }
  }

  /** The next leader has to be asked. */
  void stoppedLeading() {
    watches.forEach(watch -> answer(watch, leadership.notLeader()));
  }

  /** The client is gone: its requests end. */
  void forget(ReplyChannel gone) {
    for (Watch watch : watches) {
      if (watch.client == gone) {
        answer(watch, leadership.notLeader());
      }
    }
  }
}
