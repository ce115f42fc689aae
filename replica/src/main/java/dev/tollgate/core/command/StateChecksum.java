package dev.tollgate.core.command;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The checksum of a replica's state at one log index.
 *
 * @param total of all parts, in hexadecimal
 * @param parts a short checksum of each part by its name, which tells people where a difference is
 */
public record StateChecksum(String total, SortedMap<String, Long> parts) {
  public StateChecksum {
    requireNonNull(total, "total");
    parts = Collections.unmodifiableSortedMap(new TreeMap<>(parts));
    if (total.isEmpty() || total.length() > Limits.CHECKSUM_CHARS) {
      throw new IllegalArgumentException("checksum of " + total.length() + " characters");
    }
    if (parts.size() > Limits.CHECKSUM_PARTS) {
      throw new IllegalArgumentException("checksum of " + parts.size() + " parts");
    }
  }

  /** Returns true if both checksums are of equal states. */
  public boolean agreesWith(StateChecksum other) {
    return total.equals(other.total);
  }

  /** Returns the names of the parts that only one checksum has, or that differ. */
  public List<String> differencesFrom(StateChecksum other) {
    SortedMap<String, Long> all = new TreeMap<>(parts);
    all.putAll(other.parts);
    List<String> names = new ArrayList<>();
    for (String name : all.keySet()) {
      Long here = parts.get(name);
      if (here == null || !here.equals(other.parts.get(name))) {
        names.add(name);
      }
    }
    return names;
  }
}
