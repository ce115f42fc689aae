package dev.tollgate.samples.benchmark.system;

/** What a system can do besides taking a free lock and giving it back. */
public enum Ability {
  /** Waits for a lock that is taken, in the order of asking, without polling by its client. */
  WAIT("its clients cannot wait for a lock"),
  /** Says at once that a lock is taken. */
  TRY("its clients cannot ask without waiting"),
  /** Keeps many leases alive from one process. */
  KEEP_LEASES("each of its leases is a session with threads of its own, or it has none"),
  /** Goes on when the leader of its servers is killed, and takes it back when it is restarted. */
  FAIL_OVER("one server, or servers that lose their memory with their process"),
  /** Gives the lock of a crashed client to one that waits, after a time that the client chose. */
  OUTLIVE_HOLDERS("clients cannot choose how long they are waited for, or cannot wait");

  private final String lacking;

  Ability(String lacking) {
    this.lacking = lacking;
  }

  /** What to say of a system that lacks it. */
  public String lacking() {
    return lacking;
  }
}
