package dev.tollgate.core;

/** How a lock is held: by one lease alone, or by any number of leases together. */
public enum LockMode {
  EXCLUSIVE,
  SHARED
}
