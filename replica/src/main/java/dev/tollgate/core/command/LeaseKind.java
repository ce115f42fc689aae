package dev.tollgate.core.command;

/** What a lease belongs to, and what ends it. */
public enum LeaseKind {
  /** Made by create_lease: lives as long as a client renews it. */
  CLIENT,
  /** A session's own lease: renewed with its session, and ends with it. */
  OWN,
  /** Keeps a lock from others after its release: no client can use or renew it. */
  KEEP,
  /** Holds the locks of an open transaction, and ends with it: no client can use or renew it. */
  TRANSACTION,
  /** Holds the lock of a LOCKED BY statement, or waits for it: no client can use or renew it. */
  STATEMENT
}
