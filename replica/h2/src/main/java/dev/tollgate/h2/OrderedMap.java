package dev.tollgate.h2;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * A concurrent map whose values are read in the order of their keys. In H2's own map, the order
 * also depends on how many entries the map once had, which a replica does not know that was
 * restored from a snapshot. Thread-safe, if no two threads change the value of one key at a time.
 *
 * @param <K> the keys, which are names; or anything, if the values are never gone through
 */
public final class OrderedMap<K, V> extends ConcurrentHashMap<K, V> {
  private static final long serialVersionUID = 1L;

  /** The same values; without those whose keys are no names. */
  private final ConcurrentSkipListMap<String, V> byName = new ConcurrentSkipListMap<>();

  /** The values in the order of their keys. */
  @Override
  public Collection<V> values() {
    return byName.values();
  }

  /** To be called after the value of a key may have changed. */
  private <T> T changed(Object key, T result) {
    if (key instanceof String name) {
      V value = get(name);
      if (value == null) {
        byName.remove(name);
      } else {
        byName.put(name, value);
      }
    }
    return result;
  }

  @Override
  public V put(K key, V value) {
    return changed(key, super.put(key, value));
  }

  @Override
  public void putAll(Map<? extends K, ? extends V> others) {
    others.forEach(this::put);
  }

  @Override
  public V putIfAbsent(K key, V value) {
    return changed(key, super.putIfAbsent(key, value));
  }

  @Override
  public V remove(Object key) {
    return changed(key, super.remove(key));
  }

  @Override
  public boolean remove(Object key, Object value) {
    return changed(key, super.remove(key, value));
  }

  @Override
  public V replace(K key, V value) {
    return changed(key, super.replace(key, value));
  }

  @Override
  public boolean replace(K key, V before, V after) {
    return changed(key, super.replace(key, before, after));
  }

  @Override
  public V computeIfAbsent(K key, Function<? super K, ? extends V> value) {
    return changed(key, super.computeIfAbsent(key, value));
  }

  @Override
  public V computeIfPresent(K key, BiFunction<? super K, ? super V, ? extends V> value) {
    return changed(key, super.computeIfPresent(key, value));
  }

  @Override
  public V compute(K key, BiFunction<? super K, ? super V, ? extends V> value) {
    return changed(key, super.compute(key, value));
  }

  @Override
  public V merge(K key, V value, BiFunction<? super V, ? super V, ? extends V> together) {
    return changed(key, super.merge(key, value, together));
  }

  @Override
  public void clear() {
    super.clear();
    byName.clear();
  }
}
