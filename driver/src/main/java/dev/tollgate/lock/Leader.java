package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

/**
 * Who leads an election, or holds a lock.
 *
 * @param candidate the name under which it stood, or the owner of the lease
 * @param token of its term; a later term has a higher one
 */
public record Leader(String candidate, long token) {
  public Leader {
    requireNonNull(candidate, "candidate");
  }
}
