package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Whom to tell once that a lease or a lock is lost, on a lane of their own. Thread-safe. */
final class LossListeners {
  private final ListenerLanes lanes;
  private final String lost;
  private final Function<String, LockLostException> loss;
  private final List<Consumer<LockLostException>> listeners = new ArrayList<>();
  private @Nullable ListenerLane lane;

  /**
   * @param lost what has the listeners, for messages
   * @param loss what they are told, made of the reason
   */
  LossListeners(ListenerLanes lanes, String lost, Function<String, LockLostException> loss) {
    this.lanes = requireNonNull(lanes, "lanes");
    this.lost = requireNonNull(lost, "lost");
    this.loss = requireNonNull(loss, "loss");
  }

  private ListenerLane open() {
    return lanes.open("a listener for the loss of " + lost);
  }

  /**
   * @throws IllegalStateException if there are {@link LockLimits#LISTENERS} already
   * @throws LockException if there is no lane for them
   */
  synchronized void add(Consumer<LockLostException> listener) {
    if (listeners.size() >= LockLimits.LISTENERS) {
      throw new IllegalStateException(
          lost + " has " + LockLimits.LISTENERS + " listeners already (LockLimits.LISTENERS)");
    }
    if (lane == null) {
      lane = open();
    }
    listeners.add(listener);
  }

  /** Tells all of them, who are not told again. Does not wait. */
  void tell(String because) {
    tell(take(), because);
  }

  /** Tells a listener that has come after the loss. */
  void tellLate(Consumer<LockLostException> listener, String because) {
    tell(new Taken(List.of(listener), open()), because);
  }

  private void tell(Taken told, String because) {
    ListenerLane on = told.lane;
    if (on != null) {
      told.listeners.forEach(each -> on.execute(() -> each.accept(loss.apply(because))));
      on.end();
    }
  }

  /** Tells nobody any more. */
  void clear() {
    ListenerLane on = take().lane;
    if (on != null) {
      on.end();
    }
  }

  private record Taken(List<Consumer<LockLostException>> listeners, @Nullable ListenerLane lane) {}

  private synchronized Taken take() {
    Taken taken = new Taken(List.copyOf(listeners), lane);
    listeners.clear();
    lane = null;
    return taken;
  }

  /** Takes over the listeners of what this takes the place of. */
  void takeFrom(LossListeners former) {
    Taken taken = former.take();
    ListenerLane spare = taken.lane;
    synchronized (this) {
      listeners.addAll(taken.listeners);
      if (lane == null) {
        lane = taken.lane;
        spare = null;
      }
    }
    if (spare != null) {
      spare.end();
    }
  }
}
