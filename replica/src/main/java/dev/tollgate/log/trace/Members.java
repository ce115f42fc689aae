package dev.tollgate.log.trace;

import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The members of a group.
 *
 * @param sets one, or two while the members change: each has to agree
 */
record Members(List<Set<String>> sets) {
  /** Reads what {@link PromiseTrace} has written. */
  static Members of(String detail) {
    return new Members(
        Arrays.stream(detail.split("/", -1))
            .map(names -> Set.copyOf(new HashSet<>(Arrays.asList(names.split(",", -1)))))
            .toList());
  }

  boolean majority(Predicate<String> agrees) {
    return sets.stream().allMatch(set -> 2 * set.stream().filter(agrees).count() > set.size());
  }

  /**
   * True while a node that was alone is joined by a first other one. Ratis 3.3.0 then elects it by
   * its own vote (RaftConfigurationImpl.isSingleMode), and no other node can be elected without it.
   */
  boolean areOneAndItsFirst(String node) {
    return sets.size() == 2 && sets.get(0).size() == 2 && sets.get(1).equals(Set.of(node));
  }

  boolean isWithin(Collection<String> nodes) {
    return sets.stream().allMatch(nodes::containsAll);
  }
}
