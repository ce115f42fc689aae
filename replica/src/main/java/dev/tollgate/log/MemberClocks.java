package dev.tollgate.log;

import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What this node knows of the wall clocks of its cluster.
 *
 * @param members how many nodes the cluster has, with this one
 * @param others the last reading of the clock of each other member that has answered this node
 */
public record MemberClocks(int members, SortedMap<String, ClockReading> others) {
  /** A node without others. */
  public static final MemberClocks ALONE = new MemberClocks(1, new TreeMap<>());

  public MemberClocks {
    others = Collections.unmodifiableSortedMap(new TreeMap<>(others));
    if (members <= others.size()) {
      throw new IllegalArgumentException(members + " members with clocks of " + others.keySet());
    }
  }
}
