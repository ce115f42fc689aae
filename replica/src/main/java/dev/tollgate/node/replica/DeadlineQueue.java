package dev.tollgate.node.replica;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Things that are due at some time, most of which are put off before it comes. Putting off is a
 * write to a field: the queue looks at an item again only when its old time has come. What is
 * removed is gone at once, from the queue too: a lease of a day that is revoked at once would
 * otherwise stay for a day. Not thread-safe.
 */
final class DeadlineQueue<K> {
  private static final class Item<K> implements Comparable<Item<K>> {
    final K key;
    final long periodNanos;

    /** Tells items of one time apart. */
    final long number;

    long dueNanos;

    /** The time under which the item stands in the queue; at or before it is due. */
    long queuedNanos;

    /** True once it was reported as due: it is not in the queue, and cannot be put off any more. */
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

  /** Adds an item that is due a period from now; in place of the one of this key, if there is. */
  void add(K key, long periodNanos, long nowNanos) {
    add(key, periodNanos, periodNanos, nowNanos);
  }

  /** Adds an item that is due sooner, or later, and is put off by a period. */
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

  /** Puts an item off to a period from this time; false if it is not there or was reported. */
  boolean putOff(K key, long nowNanos) {
    Item<K> item = items.get(key);
    if (item == null || item.reported) {
      return false;
    }
    item.dueNanos = Math.max(item.dueNanos, nowNanos + item.periodNanos);
    return true;
  }

  /** Nanoseconds until an item is due, or null if it is not there. */
  @Nullable Long remaining(K key, long nowNanos) {
    Item<K> item = items.get(key);
    return item == null ? null : (Long) Math.max(0, item.dueNanos - nowNanos);
  }

  /** The items that are due, each reported once. */
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

  /** Takes back the report of an item that could not be acted on: it is due again at once. */
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

  /** How many items the queue has in memory; those that were reported are not among them. */
  int queued() {
    return queue.size();
  }

  void clear() {
    items.clear();
    queue.clear();
  }
}
