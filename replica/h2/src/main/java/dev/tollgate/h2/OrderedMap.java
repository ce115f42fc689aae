package dev.tollgate.h2;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A concurrent map whose values are read in the order of their keys. In H2's own map, the order
 * also depends on how many entries the map once had, which a replica does not know that was
 * restored from a snapshot.
 *
 * @param <K> the keys, which are comparable
 */
public final class OrderedMap<K extends Comparable<K>, V> extends ConcurrentHashMap<K, V> {
  private static final long serialVersionUID = 1L;

  /** The values as they are now, in the order of their keys. */
  @Override
  public Collection<V> values() {
    List<Map.Entry<K, V>> entries = new ArrayList<>(entrySet());
    entries.sort(Map.Entry.comparingByKey());
    List<V> values = new ArrayList<>(entries.size());
    for (Map.Entry<K, V> entry : entries) {
      values.add(entry.getValue());
    }
    return Collections.unmodifiableList(values);
  }
}
