package dev.tollgate.store;

import java.security.SecureRandom;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Takes the place of H2's one source of UUIDs. A thread that applies the log gets numbers that
 * follow from its seed; every other thread gets those of the source that was there before.
 */
final class PinnedRandom extends SecureRandom {
  private static final long serialVersionUID = 1L;

  private static final ThreadLocal<@Nullable Random> PINNED = new ThreadLocal<>();

  private final SecureRandom unpinned;

  PinnedRandom(SecureRandom unpinned) {
    this.unpinned = unpinned;
  }

  /** From now on this thread's numbers follow from the seed, until {@link #unpin}. */
  void pin(long seed) {
    PINNED.set(new Random(seed));
  }

  void unpin() {
    PINNED.remove();
  }

  @Override
  public void nextBytes(byte[] bytes) {
    Random random = PINNED.get();
    if (random != null) {
      random.nextBytes(bytes);
    } else {
      unpinned.nextBytes(bytes);
    }
  }

  @Override
  public void setSeed(long seed) {
    // the constructor of Random calls this; there is nothing to seed here
  }

  @Override
  public String getAlgorithm() {
    return "pinned to the log";
  }
}
