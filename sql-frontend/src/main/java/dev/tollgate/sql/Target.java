package dev.tollgate.sql;

import static java.util.Objects.requireNonNull;

/**
 * An object that a statement changes, creates or drops, by the name that the statement gives it.
 */
public record Target(ObjectKind kind, ObjectName name) {

  public Target {
    requireNonNull(kind, "kind");
    requireNonNull(name, "name");
  }
}
