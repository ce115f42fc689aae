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

  boolean isWithin(Collection<String> nodes) {
    return sets.stream().allMatch(nodes::containsAll);
  }
}
