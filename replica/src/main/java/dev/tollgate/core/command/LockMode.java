package dev.tollgate.core.command;

/** How a lock is held: by one lease alone, or by any number of leases together. */
public enum LockMode {
  EXCLUSIVE,
  SHARED
}
