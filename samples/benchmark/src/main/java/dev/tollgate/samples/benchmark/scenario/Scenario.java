package dev.tollgate.samples.benchmark.scenario;

import java.util.Locale;

/** Everything that can be measured. docs/benchmarks.md says more of each. */
public enum Scenario {
  LATENCY("one client, one lock: acquire and release timed apart", true, LockCycles::latency),
  JAVA_API("the Java lock API beside the same as statements", false, LockCycles::javaApi),
  THROUGHPUT("1, 8 and 64 clients with a lock each", true, LockCycles::throughput),
  FLOOR("the same beside two commits that change next to nothing", false, LockCycles::floor),
  HANDOFF("4 clients want the same lock: from release to the next one's", true, Handoff::run),
  IDLE_LEASES("one client, beside 0 to 10,000 leases kept alive", true, IdleLeases::run),
  HOLDER_CRASH("kill -9 of a holder with a lease of 3 s", true, HolderCrash::run),
  SEQUENTIAL("lowkey's: one client, acquire and release as one", false, LockCycles::sequential),
  PARALLEL("lowkey's: a client for each processor", false, LockCycles::parallel),
  CONTENTION(
      "lowkey's: 3 clients try one lock, which is held for 1 ms", true, LockCycles::contention),
  FENCED_UPDATE("an UPDATE with a fence and one without", true, Rows::fencedUpdate),
  LOCKED_WRITE("lock, write a row under it, unlock", true, Rows::lockedWrite),
  READS("a point read by consistency", true, Rows::reads),
  EMBEDDED_H2("inserts and point reads against H2 in the process", true, Rows::embeddedH2),
  TRANSACTIONS("SELECT FOR UPDATE, two UPDATEs, COMMIT", false, Transactions::run),
  ROWS("writes one by one, and several in one request", false, RowWrites::run),
  EXPIRY("50,000 leases with a lock each end at once", true, Expiry::run),
  HELD_LOCKS("one client, beside 1,000 to 1,000,000 locks that are held", true, HeldLocks::run),
  FULL_HEAP("64 clients, beside a million locks and 20 leases of 1 s", false, FullHeap::run),
  TLS("acquire and release with TLS and without, two clusters in turns", false, Encryption::run),
  START("1 client of nodes that have just started", false, Start::oneClient),
  START_BUSY("64 clients of nodes that have just started", false, Start::manyClients),
  SILENT_LEADER("8 clients, SIGSTOP of the leader: until each goes on", false, Failover::silent),
  /** The last scenario: the servers that it starts again have to warm up anew. */
  FAILOVER("8 clients, kill -9 of the leader: until each goes on", true, Failover::run);

  private interface Script {
    void run(Scenario scenario, Stage stage) throws Exception;
  }

  private final String description;
  private final boolean inDefault;

  @SuppressWarnings("ImmutableEnumChecker") // method references
  private final Script script;

  Scenario(String description, boolean inDefault, Script script) {
    this.description = description;
    this.inDefault = inDefault;
    this.script = script;
  }

  /** Its name in options and tables. */
  public String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  public String description() {
    return description;
  }

  /** Whether the scenario runs where no scenario is named. */
  public boolean isInDefault() {
    return inDefault;
  }

  public void run(Stage stage) throws Exception {
    script.run(this, stage);
  }
}
