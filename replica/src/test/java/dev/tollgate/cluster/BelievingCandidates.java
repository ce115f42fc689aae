package dev.tollgate.cluster;

import dev.tollgate.lock.Leadership;
import dev.tollgate.lock.LockClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** A process with candidates that write down when they believe to lead, and lead until the end. */
final class BelievingCandidates {
  private static final long PAUSE_NANOS = 200_000;

  private final Beliefs beliefs;
  private final Duration ttl;
  private final boolean deaf;

  private BelievingCandidates(Beliefs beliefs, Duration ttl, boolean deaf) {
    this.beliefs = beliefs;
    this.ttl = ttl;
    this.deaf = deaf;
  }

  /**
   * @param arguments URL, election, name of the process, number of candidates, ttl in milliseconds,
   *     file of beliefs, and whether the candidates believe for one more ttl after they were told
   */
  public static void main(String[] arguments) throws Exception {
    Duration ttl = Duration.ofMillis(Long.parseLong(arguments[4]));
    BelievingCandidates candidates =
        new BelievingCandidates(
            new Beliefs(Path.of(arguments[5])), ttl, Boolean.parseBoolean(arguments[6]));
    try (LockClient client = LockClient.connect(arguments[0])) {
      for (int i = 0; i < Integer.parseInt(arguments[3]); i++) {
        client.elect(arguments[1], arguments[2] + "-" + i, ttl, candidates::lead);
      }
      new CountDownLatch(1).await();
    }
  }

  private void lead(Leadership term) throws InterruptedException {
    int number = beliefs.begin(term.token());
    CountDownLatch over = new CountDownLatch(1);
    Thread watch = new Thread(() -> watch(number, belief(term), over), "watch " + term.token());
    watch.setDaemon(true);
    watch.start();
    try {
      new CountDownLatch(1).await();
    } finally {
      over.countDown();
    }
  }

  private BooleanSupplier belief(Leadership term) {
    return deaf ? new Deaf(term, ttl) : term::isLeader;
  }

  /** Believes for one more ttl after it was told. */
  private static final class Deaf implements BooleanSupplier {
    private final Leadership term;
    private final Duration ttl;
    private boolean told;
    private long toldNanos;

    Deaf(Leadership term, Duration ttl) {
      this.term = term;
      this.ttl = ttl;
    }

    @Override
    public boolean getAsBoolean() {
      long now = System.nanoTime();
      if (!told && !term.isLeader()) {
        told = true;
        toldNanos = now;
      }
      return !told || now - toldNanos < ttl.toNanos();
    }
  }

  private void watch(int number, BooleanSupplier leads, CountDownLatch over) {
    boolean believes = true;
    while (believes || over.getCount() > 0) {
      long before = System.nanoTime();
      believes = leads.getAsBoolean();
      if (believes) {
        beliefs.believed(number, before);
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }
}
