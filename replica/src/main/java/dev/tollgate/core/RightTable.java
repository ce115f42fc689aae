package dev.tollgate.core;

import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.Right;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The granted rights that the database knows nothing of, by grantee. */
final class RightTable {
  private final SortedMap<String, SortedSet<Right>> rights = new TreeMap<>();
  private int size;

  /** Why no further right can be granted, or null. */
  Outcome.@Nullable Refused full() {
    return size < Limits.RIGHTS
        ? null
        : Capacity.exceeded(
            "the number of granted rights on locks and sequences is",
            Limits.RIGHTS,
            "revoke those that are not needed, or grant rights to roles; view TOLLGATE.RIGHTS"
                + " names them");
  }

  /** The rights of one grantee, without those of its roles. */
  SortedSet<Right> of(String grantee) {
    return rights.getOrDefault(grantee, Collections.emptySortedSet());
  }

  boolean has(Right right) {
    return of(right.grantee()).contains(right);
  }

  void add(Right right) {
    if (rights.computeIfAbsent(right.grantee(), any -> new TreeSet<>()).add(right)) {
      size++;
    }
  }

  /** Returns false if the right was not granted. */
  boolean remove(Right right) {
    SortedSet<Right> granted = rights.get(right.grantee());
    if (granted == null || !granted.remove(right)) {
      return false;
    }
    size--;
    if (granted.isEmpty()) {
      rights.remove(right.grantee());
    }
    return true;
  }

  /** True if a right on everything of a kind is granted. */
  boolean hasRightOnAll() {
    for (Right right : all()) {
      if (right.kind().isOnAll()) {
        return true;
      }
    }
    return false;
  }

  void removeIf(Predicate<Right> obsolete) {
    for (Right right : all()) {
      if (obsolete.test(right)) {
        remove(right);
      }
    }
  }

  List<Right> all() {
    List<Right> all = new ArrayList<>(size);
    rights.values().forEach(all::addAll);
    return all;
  }
}
