package dev.tollgate.simulation;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/** The time of a simulation, what is to happen in it, chance, and what is told of it all. */
final class World {
  /** Lines of the trace that a failure shows. */
  private static final int TRACE_LINES = 60;

  private record Event(long atNanos, long order, Runnable action) implements Comparable<Event> {
    @Override
    public int compareTo(Event other) {
      return atNanos == other.atNanos
          ? Long.compare(order, other.order)
          : Long.compare(atNanos, other.atNanos);
    }
  }

  final RandomGenerator random;
  private final PriorityQueue<Event> events = new PriorityQueue<>();
  private final Deque<Supplier<String>> trace = new ArrayDeque<>();
  private final Map<String, long[]> counts = new HashMap<>();
  private long nowNanos;
  private long lastOrder;
  private long digest;

  World(long seed) {
    random = new SplittableRandom(seed);
  }

  long now() {
    return nowNanos;
  }

  void after(long nanos, Runnable action) {
    events.add(new Event(nowNanos + nanos, ++lastOrder, action));
  }

  /** Lets everything happen that is due up to this moment. */
  void runUntil(long nanos) {
    for (Event next = events.peek(); next != null && next.atNanos <= nanos; next = events.peek()) {
      events.remove();
      nowNanos = next.atNanos;
      digest = digest * 31 + next.atNanos;
      next.action.run();
    }
    nowNanos = nanos;
  }

  /** Equal for two runs in which the same happened at the same times. */
  long digest() {
    return digest;
  }

  boolean chance(double probability) {
    return random.nextDouble() < probability;
  }

  /** A time between these two, in nanoseconds. */
  long between(long fromNanos, long toNanos) {
    return fromNanos + (long) (random.nextDouble() * (toNanos - fromNanos));
  }

  <T> T oneOf(List<T> all) {
    return all.get(random.nextInt(all.size()));
  }

  /** Notes what happened; the text is made only if it is shown. */
  void tell(Supplier<String> what) {
    long at = nowNanos;
    trace.addLast(() -> String.format("%12.6f  %s", at / 1e9, what.get()));
    if (trace.size() > TRACE_LINES) {
      trace.removeFirst();
    }
  }

  List<String> trace() {
    List<String> lines = new ArrayList<>();
    trace.forEach(line -> lines.add(line.get()));
    return lines;
  }

  void count(String what) {
    count(what, 1);
  }

  void count(String what, long times) {
    counts.computeIfAbsent(what, first -> new long[1])[0] += times;
  }

  long counted(String what) {
    return counts.getOrDefault(what, new long[1])[0];
  }

  Map<String, Long> counts() {
    Map<String, Long> sorted = new TreeMap<>();
    counts.forEach((what, times) -> sorted.put(what, times[0]));
    return sorted;
  }

  static long millis(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }
}
