package dev.tollgate.node.replica;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Things that are due at some time, most of which are put off before it comes. Putting off is a
 * write to a field: the queue looks at an item again only when its old time has come. Not
 * thread-safe.
 */
final class DeadlineQueue<K> {
  private static final class Item<K> {
    final K key;
    final long periodNanos;
    long dueNanos;

    /** The time under which the item stands in the queue; at or before it is due. */
    long queuedNanos;

    /** True once it was reported as due: it cannot be put off any more. */
    boolean reported;

    Item(K key, long periodNanos, long nowNanos) {
      this.key = key;
      this.periodNanos = periodNanos;
      this.dueNanos = nowNanos + periodNanos;
      this.queuedNanos = dueNanos;
    }
  }

  private final Map<K, Item<K>> items = new HashMap<>();
  private final PriorityQueue<Item<K>> queue =
      new PriorityQueue<>(Comparator.comparingLong(item -> item.queuedNanos));

  /** Adds an item that is due a period from now. */
  void add(K key, long periodNanos, long nowNanos) {
    Item<K> item = new Item<>(key, periodNanos, nowNanos);
    items.put(key, item);
    queue.add(item);
  }

  void remove(K key) {
    // its place in the queue is given up when its time comes
    items.remove(key);
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
  List<K> takeDue(long nowNanos) {
    List<K> due = new ArrayList<>();
    for (Item<K> head = queue.peek();
        head != null && head.queuedNanos <= nowNanos;
        head = queue.peek()) {
      queue.remove();
      if (items.get(head.key) != head) {
        continue;
      }
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

  void clear() {
    items.clear();
    queue.clear();
  }
}
