package dev.tollgate.log.ratis;

import org.apache.ratis.server.protocol.TermIndex;

/** The last entry that this node has applied, as Ratis sees it. */
interface LastApplied {
  TermIndex get();

  /** Goes on to another entry, which may be an earlier one. */
  void set(TermIndex entry);

  /** Goes on to a later entry. */
  void advance(TermIndex entry);
}
