package dev.tollgate.seal;

import java.io.IOException;

/**
 * Reports that something is not sealed where all has to be: whoever can write there may have made
 * it.
 */
public final class NotEncryptedException extends IOException {
  /**
   * @param what is not sealed, for the message
   */
  public NotEncryptedException(String what) {
    super(
        what
            + " is not encrypted, and this node has data keys, so another program may have written"
            + " it. A directory that was never encrypted is encrypted, and a file that was put"
            + " there is replaced, by `tollgate reseed` with the data keys of the node. For a node"
            + " that is alone, restore a backup with its data keys, with `tollgate restore`");
  }
}
