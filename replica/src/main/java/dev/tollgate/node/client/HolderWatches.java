package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.ClusterState;
import dev.tollgate.core.Hold;
import dev.tollgate.core.Lock;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.Text;
import dev.tollgate.core.command.UserName;
import dev.tollgate.node.replica.StateAccess;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Requests that wait until another lease holds a lock. After each entry, every lock that some of
 * them name is looked up once. Thread-safe; nothing here waits.
 */
final class HolderWatches {
  /** A request. */
  private static final class Watch {
    final LockName lock;
    final UserName user;
    final long knownToken;
    final ReplyChannel client;
    final Consumer<Reply> answer;
    final AtomicBoolean waits = new AtomicBoolean(true);

    Watch(
        LockName lock,
        UserName user,
        long knownToken,
        ReplyChannel client,
        Consumer<Reply> answer) {
      this.lock = lock;
      this.user = user;
      this.knownToken = knownToken;
      this.client = client;
      this.answer = answer;
    }
  }

  private final StateAccess state;
  private final Leadership leadership;
  private final int most;

  /** Those that wait, by their lock; no set is empty. */
  private final Map<LockName, Set<Watch>> watches = new ConcurrentHashMap<>();

  /** Of those that there are, with those that are about to be added. */
  private final UserRoom room;

  HolderWatches(StateAccess state, Leadership leadership, int most, int mostOfUser) {
    this.state = requireNonNull(state, "state");
    this.leadership = requireNonNull(leadership, "leadership");
    this.most = most;
    room = new UserRoom(most, mostOfUser, "holder watches");
  }

  void await(
      Request.AwaitHolder request, UserName user, ReplyChannel client, Consumer<Reply> answer) {
    String name = request.lock();
    if (name.isEmpty() || name.length() > Limits.LOCK_NAME_CHARS || !Text.isWellFormed(name)) {
      answer.accept(
          new Reply.Failure(
              SqlState.INVALID_ARGUMENT,
              "the name of a lock has 1 to " + Limits.LOCK_NAME_CHARS + " whole characters"));
      return;
    }
    UserRoom.Full full = room.take(user, 1, "stand in fewer elections at a time");
    if (full == null) {
      begin(new Watch(new LockName(name), user, request.knownToken(), client, answer));
    } else {
      answer.accept(new Reply.Failure(SqlState.TOO_MANY, describe(full)));
    }
  }

  private String describe(UserRoom.Full full) {
    return full.ofUser() != null
        ? full.ofUser()
        : "the node has " + most + " requests that wait for the holder of a lock";
  }

  private void begin(Watch watch) {
    leadership.awaitState(
        leads -> {
          watches.compute(watch.lock, (lock, others) -> with(watch, others));
          if (leads && leadership.isAssumed()) {
            state.ask(now -> answerIfDue(now, watch, exclusiveHold(now.lock(watch.lock))));
          } else {
            answer(watch, leadership.notLeader());
          }
        });
  }

  private static Set<Watch> with(Watch watch, @Nullable Set<Watch> others) {
    Set<Watch> all = others == null ? ConcurrentHashMap.newKeySet() : others;
    all.add(watch);
    return all;
  }

  private static @Nullable Set<Watch> without(Watch watch, Set<Watch> all) {
    all.remove(watch);
    return all.isEmpty() ? null : all;
  }

  /** An entry was applied. */
  void applied() {
    if (!watches.isEmpty()) {
      state.ask(this::answerAllChanged);
    }
  }

  private void answerAllChanged(ClusterState now) {
    for (Map.Entry<LockName, Set<Watch>> of : watches.entrySet()) {
      Hold hold = exclusiveHold(now.lock(of.getKey()));
      for (Watch watch : of.getValue()) {
        answerIfDue(now, watch, hold);
      }
    }
  }

  private void answerIfDue(ClusterState now, Watch watch, @Nullable Hold hold) {
    long token = hold == null ? 0 : hold.token().value();
    Outcome.Refused refused = now.inspect(watch.user, watch.lock);
    if (refused != null) {
      answer(watch, Replies.of(refused));
    } else if (token != watch.knownToken) {
      answer(watch, new Reply.Holder(token, hold == null ? null : hold.lease().owner()));
    }
  }

  private static @Nullable Hold exclusiveHold(@Nullable Lock lock) {
    return lock == null || lock.mode() != LockMode.EXCLUSIVE ? null : lock.oldestUse();
  }

  private void answer(Watch watch, Reply reply) {
    if (watch.waits.compareAndSet(true, false)) {
      watches.computeIfPresent(watch.lock, (lock, all) -> without(watch, all));
      room.give(watch.user, 1);
      watch.answer.accept(reply);
    }
  }

  /** The next leader has to be asked. */
  void stoppedLeading() {
    end(watch -> true);
  }

  /** The client is gone: its requests end. */
  void forget(ReplyChannel gone) {
    end(watch -> watch.client == gone);
  }

  private void end(Predicate<Watch> which) {
    for (Set<Watch> all : watches.values()) {
      for (Watch watch : all) {
        if (which.test(watch)) {
          answer(watch, leadership.notLeader());
        }
      }
    }
  }
}
