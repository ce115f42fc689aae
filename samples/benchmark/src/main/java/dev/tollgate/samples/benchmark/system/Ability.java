package dev.tollgate.samples.benchmark.system;

/** What a system can do besides acquiring and releasing a free lock. */
public enum Ability {
  /** Waits for a held lock, in the order of the requests, without polling by its client. */
  WAIT("its clients cannot wait for a lock"),
  /** Reports at once that a lock is held. */
  TRY("its clients cannot ask without waiting"),
  /** Keeps many leases alive from one process. */
  KEEP_LEASES("each of its leases is a session with threads of its own, or it has none"),
  /**
   * Continues when the leader of its servers is killed, and takes that server back after its
   * restart.
   */
  FAIL_OVER("one server, or servers that lose their memory with their process"),
  /** Grants the lock of a crashed client to a waiting client, after a time that a client chose. */
  OUTLIVE_HOLDERS("clients cannot choose how long they are waited for, or cannot wait");

  private final String lacking;

  Ability(String lacking) {
    this.lacking = lacking;
  }

  /** The text for a system that lacks this ability. */
  public String lacking() {
    return lacking;
  }
}
