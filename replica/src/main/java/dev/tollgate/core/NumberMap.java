package dev.tollgate.core;

import java.util.AbstractCollection;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * An immutable map from numbers to values, in the order of the numbers. A change makes a new map
 * that shares nearly all of the old one, so both a change and a lookup cost the logarithm of the
 * size, and a copy costs nothing: whoever has a map may read it while others change theirs. A tree
 * by Adelson-Velsky and Landis.
 */
final class NumberMap<V> {
  private static final NumberMap<?> EMPTY = new NumberMap<>(null, 0);

  private final @Nullable Node<V> root;
  private final int size;

  private NumberMap(@Nullable Node<V> root, int size) {
    this.root = root;
    this.size = size;
  }

  @SuppressWarnings("unchecked") // no value is in it
  static <V> NumberMap<V> empty() {
    return (NumberMap<V>) EMPTY;
  }

  int size() {
    return size;
  }

  boolean isEmpty() {
    return size == 0;
  }

  @Nullable V get(long key) {
    Node<V> at = root;
    while (at != null && at.key != key) {
      at = key < at.key ? at.left : at.right;
    }
    return at == null ? null : at.value;
  }

  /** The value of the lowest number, or null. */
  @Nullable V first() {
    return root == null ? null : lowest(root).value;
  }

  /** This map with a value for the number, in place of the one it had. */
  NumberMap<V> with(long key, V value) {
    return new NumberMap<>(put(root, key, value), get(key) == null ? size + 1 : size);
  }

  /** This map without a value for the number; the same map if there is none. */
  NumberMap<V> without(long key) {
    return get(key) == null ? this : new NumberMap<>(remove(root, key), size - 1);
  }

  /** The values in the order of their numbers. */
  Collection<V> values() {
    return new Values();
  }

  private static <V> Node<V> put(@Nullable Node<V> at, long key, V value) {
    if (at == null) {
      return new Node<>(key, value, null, null);
    }
    if (key == at.key) {
      return new Node<>(key, value, at.left, at.right);
    }
    return key < at.key
        ? balanced(at, put(at.left, key, value), at.right)
        : balanced(at, at.left, put(at.right, key, value));
  }

  private static <V> @Nullable Node<V> remove(@Nullable Node<V> at, long key) {
    if (at == null) {
      return null;
    }
    if (key < at.key) {
      return balanced(at, remove(at.left, key), at.right);
    }
    if (key > at.key) {
      return balanced(at, at.left, remove(at.right, key));
    }
    if (at.left == null || at.right == null) {
      return at.left == null ? at.right : at.left;
    }
    Node<V> following = lowest(at.right);
    return balanced(following, at.left, remove(at.right, following.key));
  }

  private static <V> Node<V> lowest(Node<V> from) {
    Node<V> at = from;
    while (at.left != null) {
      at = at.left;
    }
    return at;
  }

  /** A tree of the entry and of these trees, whose heights differ by 2 at most. */
  private static <V> Node<V> balanced(
      Node<V> entry, @Nullable Node<V> left, @Nullable Node<V> right) {
    if (left != null && height(left) > height(right) + 1) {
      Node<V> inner = left.right;
      return inner != null && height(inner) > height(left.left)
          ? inner.between(left.between(left.left, inner.left), entry.between(inner.right, right))
          : left.between(left.left, entry.between(inner, right));
    }
    if (right != null && height(right) > height(left) + 1) {
      Node<V> inner = right.left;
      return inner != null && height(inner) > height(right.right)
          ? inner.between(entry.between(left, inner.left), right.between(inner.right, right.right))
          : right.between(entry.between(left, inner), right.right);
    }
    return entry.between(left, right);
  }

  private static int height(@Nullable Node<?> node) {
    return node == null ? 0 : node.height;
  }

  private static final class Node<V> {
    final long key;
    final V value;
    final @Nullable Node<V> left;
    final @Nullable Node<V> right;
    final int height;

    Node(long key, V value, @Nullable Node<V> left, @Nullable Node<V> right) {
      this.key = key;
      this.value = value;
      this.left = left;
      this.right = right;
      this.height = 1 + Math.max(height(left), height(right));
    }

    /** The same entry between other trees. */
    Node<V> between(@Nullable Node<V> newLeft, @Nullable Node<V> newRight) {
      return newLeft == left && newRight == right
          ? this
          : new Node<>(key, value, newLeft, newRight);
    }
  }

  private final class Values extends AbstractCollection<V> {
    @Override
    public int size() {
      return size;
    }

    @Override
    public Iterator<V> iterator() {
      Deque<Node<V>> open = new ArrayDeque<>(height(root));
      descend(open, root);
      return new Iterator<>() {
        @Override
        public boolean hasNext() {
          return !open.isEmpty();
        }

        @Override
        public V next() {
          if (open.isEmpty()) {
            throw new NoSuchElementException();
          }
          Node<V> node = open.pop();
          descend(open, node.right);
          return node.value;
        }
      };
    }

    private void descend(Deque<Node<V>> open, @Nullable Node<V> from) {
      for (Node<V> at = from; at != null; at = at.left) {
        open.push(at);
      }
    }
  }
}
