package dev.tollgate.fake;

import java.util.concurrent.atomic.AtomicLong;

/** Functions of the database of {@link FakeCluster}. */
public final class FakeFunctions {
  private static final AtomicLong TOKENS = new AtomicLong();

  private FakeFunctions() {}

  /** Grants always. */
  public static long acquireLock(String name) {
    return TOKENS.incrementAndGet();
  }

  /** Takes its time, in small steps so that H2 can cancel the statement in between. */
  public static int slow(int millis) throws InterruptedException {
    Thread.sleep(millis);
    return millis;
  }
}
