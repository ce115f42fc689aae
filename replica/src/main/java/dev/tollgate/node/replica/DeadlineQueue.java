package dev.tollgate.node.replica;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Items with deadlines, most of which are put off before they are due. Putting off is a write to a
 * field: the queue checks an item again only at its old deadline. A removed item leaves the queue
 * at once too: a lease of a day that is revoked at once would otherwise stay for a day. Not
 * thread-safe.
 */
final class DeadlineQueue<K> {
  private static final class Item<K> implements Comparable<Item<K>> {
    final K key;
    final long periodNanos;

    /** Distinguishes items with the same deadline. */
    final long number;

    long dueNanos;

    /** The time under which the item is queued, at or before its deadline. */
    long queuedNanos;

    /**
     * True once the item was reported as due: it is not in the queue, and can no longer be put off.
     */
    boolean reported;

    Item(K key, long periodNanos, long dueNanos, long number) {
      this.key = key;
      this.periodNanos = periodNanos;
      this.number = number;
      this.dueNanos = dueNanos;
      this.queuedNanos = dueNanos;
    }

    @Override
    public int compareTo(Item<K> other) {
      int byTime = Long.compare(queuedNanos, other.queuedNanos);
      return byTime == 0 ? Long.compare(number, other.number) : byTime;
    }
  }

  private final Map<K, Item<K>> items = new HashMap<>();
  private final TreeSet<Item<K>> queue = new TreeSet<>();
  private long lastNumber;

  /** Adds an item that is due a period from now, in place of any item of this key. */
  void add(K key, long periodNanos, long nowNanos) {
    add(key, periodNanos, periodNanos, nowNanos);
  }

  /** Adds an item that is first due after the remaining time, and is put off by a period. */
  void add(K key, long periodNanos, long remainingNanos, long nowNanos) {
    Item<K> item = new Item<>(key, periodNanos, nowNanos + remainingNanos, ++lastNumber);
    dequeue(items.put(key, item));
    queue.add(item);
  }

  void remove(K key) {
    dequeue(items.remove(key));
  }

  private void dequeue(@Nullable Item<K> item) {
    if (item != null) {
      queue.remove(item);
    }
  }

  /** Puts an item off to a period from this time; false if it is missing or was reported. */
  boolean putOff(K key, long nowNanos) {
    Item<K> item = items.get(key);
    if (item == null || item.reported) {
      return false;
    }
    item.dueNanos = Math.max(item.dueNanos, nowNanos + item.periodNanos);
    return true;
  }

  /** Nanoseconds until an item is due, or null if there is no such item. */
  @Nullable Long remaining(K key, long nowNanos) {
    Item<K> item = items.get(key);
    return item == null ? null : (Long) Math.max(0, item.dueNanos - nowNanos);
  }

  /** Returns the items that are due, each reported once. */
  List<K> removeDue(long nowNanos) {
    List<K> due = new ArrayList<>();
    while (!queue.isEmpty() && queue.first().queuedNanos <= nowNanos) {
      Item<K> head = queue.first();
      queue.remove(head);
      if (head.dueNanos > nowNanos) {
        head.queuedNanos = head.dueNanos;
        queue.add(head);
      } else {
        head.reported = true;
        due.add(head.key);
      }
    }
    return due;
  }

  /** Takes back the report of an item that could not be handled: it is due again at once. */
  void reportAgain(K key, long nowNanos) {
    Item<K> item = items.get(key);
    if (item != null && item.reported) {
      item.reported = false;
      item.queuedNanos = nowNanos;
      queue.add(item);
    }
  }

  boolean isEmpty() {
    return items.isEmpty();
  }

  /** How many items the queue holds; reported items are not among them. */
  int queued() {
    return queue.size();
  }

  void clear() {
    items.clear();
    queue.clear();
  }
}
