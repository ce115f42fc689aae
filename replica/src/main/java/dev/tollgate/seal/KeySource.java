package dev.tollgate.seal;

import java.io.IOException;
import java.time.Duration;

/** Where data keys come from. */
public interface KeySource {
  /**
   * Returns the text with the keys, at most one byte more than {@link KeyRing#MOST_BYTES}. The
   * caller overwrites the array.
   *
   * @throws IOException if the keys cannot be had; the message has no part of them
   */
  byte[] read() throws IOException;

  /** How often it is worth a look whether the keys have changed. */
  Duration reloadInterval();

  /** Names the source in messages. */
  String describe();
}
