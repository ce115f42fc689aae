package dev.tollgate.history;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Finds out whether the operations on one object can be put into an order that explains all
 * answers, in which each has its place between the moment it was sent and the moment it was
 * answered (Herlihy and Wing, "Linearizability", 1990).
 *
 * <p>A search in depth, as in Wing and Gong, "Testing and verifying concurrent objects" (1993):
 * next comes any operation that was sent before the first of the others was answered. What has been
 * tried once, the same operations leaving the same state, is not tried again (Lowe, "Testing for
 * linearizability", 2017). Operations without an answer are tried after the others, and those that
 * are left when all answers are explained have never happened.
 */
final class Linearizability<S> {
  /** Far more than a history that can be explained needs. */
  private static final int MAX_STATES = 2_000_000;

  private static final int OPERATIONS_SHOWN = 12;
  private static final int NONE = -1;

  /** Those with an answer in the order of sending, then those without, likewise. */
  private final List<Operation<S>> operations = new ArrayList<>();

  private final int answeredCount;

  /** Operations in the order of their answers, and the place of each in it. */
  private final int[] byAnswer;

  private final int[] placeByAnswer;

  private final BitSet answeredDone = new BitSet();
  private final BitSet answeredDoneByAnswer = new BitSet();
  private final BitSet unansweredDone = new BitSet();
  private final Map<Reached<S>, List<BitSet>> tried = new HashMap<>();
  private final Deque<Step<S>> path = new ArrayDeque<>();
  private Optional<Impasse<S>> impasse = Optional.empty();
  private int states;

  private Linearizability(List<Operation<S>> history) {
    Comparator<Operation<S>> bySending = Comparator.comparingLong(Operation::invokedNanos);
    history.stream().filter(Operation::isAnswered).sorted(bySending).forEach(operations::add);
    answeredCount = operations.size();
    history.stream().filter(o -> !o.isAnswered()).sorted(bySending).forEach(operations::add);
    byAnswer =
        IntStream.range(0, answeredCount)
            .boxed()
            .sorted(Comparator.comparingLong(number -> operations.get(number).returnedNanos()))
            .mapToInt(Integer::intValue)
            .toArray();
    placeByAnswer = new int[answeredCount];
    for (int place = 0; place < answeredCount; place++) {
      placeByAnswer[byAnswer[place]] = place;
    }
  }

  /**
   * Checks the history of one object.
   *
   * @param initial state of the object, before anything was asked
   * @return the operation that no order explains, with what came before it at best; empty if all
   *     can be explained
   */
  static <S> Optional<String> anomaly(S initial, List<Operation<S>> history) {
    return new Linearizability<>(history).search(initial);
  }

  /**
   * The answered operations that some order has, and the state that it leaves.
   *
   * @param from all before this one are in the order
   * @param rest which ones from there on are
   */
  private record Reached<S>(int from, BitSet rest, S state) {}

  /** An operation in its place, the states before and after it, and what may come next. */
  private record Step<S>(int number, S before, S state, Deque<Integer> next) {}

  /** An operation whose turn it is, and the state in which an order finds the object. */
  private record Impasse<S>(Operation<S> operation, S state, int depth, List<String> before) {}

  private Optional<String> search(S initial) {
    advance(NONE, initial, initial);
    while (answeredDone.cardinality() < answeredCount) {
      if (states > MAX_STATES) {
        return Optional.of("given up after " + MAX_STATES + " states: " + explanation());
      }
      Step<S> last = path.element();
      Integer number = last.next.poll();
      if (number != null) {
        tryNext(number, last);
      } else if (last.number != NONE) {
        path.pop();
        mark(last.number, false);
      } else {
        return Optional.of(explanation());
      }
    }
    return Optional.empty();
  }

  private void tryNext(int number, Step<S> last) {
    Optional<S> after = operations.get(number).effect().apply(last.state);
    if (after.isEmpty()) {
      return;
    }
    boolean inVain = isUnanswered(number) && after.get().equals(last.state);
    if (inVain || isLastOneInVain(number, last, after)) {
      return;
    }
    mark(number, true);
    if (isNew(after.get())) {
      advance(number, last.state, after.get());
    } else {
      mark(number, false);
    }
  }

  private boolean isUnanswered(int number) {
    return number >= answeredCount;
  }

  /** Whether an operation without an answer has come last that makes no difference to this one. */
  private boolean isLastOneInVain(int number, Step<S> last, Optional<S> after) {
    return isUnanswered(last.number)
        && operations.get(number).effect().apply(last.before).equals(after);
  }

  /**
   * False if an order with the same answered operations has left the same state, and has not used
   * more of those without an answer: whatever can come next could come next there.
   */
  private boolean isNew(S state) {
    int from = answeredDone.nextClearBit(0);
    BitSet rest = answeredDone.get(from, Math.max(from, answeredDone.length()));
    List<BitSet> used =
        tried.computeIfAbsent(new Reached<>(from, rest, state), key -> new ArrayList<>(1));
    for (BitSet others : used) {
      BitSet more = (BitSet) others.clone();
      more.andNot(unansweredDone);
      if (more.isEmpty()) {
        return false;
      }
    }
    used.add((BitSet) unansweredDone.clone());
    states++;
    return true;
  }

  private void mark(int number, boolean on) {
    if (!isUnanswered(number)) {
      answeredDone.set(number, on);
      answeredDoneByAnswer.set(placeByAnswer[number], on);
    } else {
      unansweredDone.set(number - answeredCount, on);
    }
  }

  private void advance(int number, S before, S state) {
    Deque<Integer> next = new ArrayDeque<>();
    path.push(new Step<>(number, before, state, next));
    int place = answeredDoneByAnswer.nextClearBit(0);
    if (place < answeredCount) {
      Operation<S> firstAnswered = operations.get(byAnswer[place]);
      addSentBefore(firstAnswered.returnedNanos(), next);
      remember(firstAnswered, state);
    }
  }

  private void addSentBefore(long nanos, Deque<Integer> next) {
    for (int number = answeredDone.nextClearBit(0);
        number < answeredCount && operations.get(number).invokedNanos() <= nanos;
        number = answeredDone.nextClearBit(number + 1)) {
      next.add(number);
    }
    int unanswered = unansweredDone.nextClearBit(0);
    while (answeredCount + unanswered < operations.size()
        && operations.get(answeredCount + unanswered).invokedNanos() <= nanos) {
      next.add(answeredCount + unanswered);
      unanswered = unansweredDone.nextClearBit(unanswered + 1);
    }
  }

  /** Keeps the order that goes furthest, to show it where none explains all. */
  private void remember(Operation<S> firstAnswered, S state) {
    boolean furthest =
        impasse.isEmpty()
            || impasse.get().operation.returnedNanos() < firstAnswered.returnedNanos()
            || (impasse.get().operation.returnedNanos() == firstAnswered.returnedNanos()
                && impasse.get().depth < path.size());
    if (furthest) {
      List<String> before = new ArrayList<>();
      Iterator<Step<S>> steps = path.iterator();
      while (steps.hasNext() && before.size() < OPERATIONS_SHOWN) {
        int number = steps.next().number;
        if (number != NONE) {
          before.add(operations.get(number).name());
        }
      }
      Collections.reverse(before);
      impasse = Optional.of(new Impasse<>(firstAnswered, state, path.size(), before));
    }
  }

  private String explanation() {
    Impasse<S> furthest = impasse.orElseThrow();
    return furthest.operation + " in " + furthest.state + " after " + furthest.before;
  }
}
