package dev.tollgate.store.h2;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import org.jspecify.annotations.Nullable;

/**
 * Replaces H2's only source of UUIDs. A thread that applies the log gets bytes that follow from its
 * seed; every other thread gets bytes from the original source.
 */
final class PinnedRandom extends SecureRandom {
  private static final long serialVersionUID = 1L;

  private static final ThreadLocal<@Nullable Stream> PINNED = new ThreadLocal<>();

  private final SecureRandom unpinned;

  PinnedRandom(SecureRandom unpinned) {
    this.unpinned = unpinned;
  }

  /** The hashes of the seed with 0, 1, 2 and so on, one after the other. */
  private static final class Stream {
    private final Pins pins;
    private ByteBuffer block = ByteBuffer.allocate(0);
    private int blocks;

    Stream(Pins pins) {
      this.pins = pins;
    }

    void read(byte[] bytes) {
      int filled = 0;
      while (filled < bytes.length) {
        if (!block.hasRemaining()) {
          block = ByteBuffer.wrap(pins.randomBlock(blocks++));
        }
        int some = Math.min(block.remaining(), bytes.length - filled);
        block.get(bytes, filled, some);
        filled += some;
      }
    }
  }

  /** Makes this thread's bytes follow from these pins until {@link #unpin}. */
  void pin(Pins pins) {
    PINNED.set(new Stream(pins));
  }

  void unpin() {
    PINNED.remove();
  }

  @Override
  public void nextBytes(byte[] bytes) {
    Stream pinned = PINNED.get();
    if (pinned != null) {
      pinned.read(bytes);
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
