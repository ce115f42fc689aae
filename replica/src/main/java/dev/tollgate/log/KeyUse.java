package dev.tollgate.log;

import static java.util.Objects.requireNonNull;

/**
 * A data key of a node, and what the node has that is sealed with it.
 *
 * @param keyId its name
 * @param seals whether new entries and files are sealed with it
 * @param lastLogIndex the last entry of the log that is sealed with it, as far as is known; -1 if
 *     the log has none
 * @param snapshots kept snapshots that are sealed with it
 * @param identity whether the file with the identity of the node is sealed with it
 */
public record KeyUse(
    String keyId, boolean seals, long lastLogIndex, int snapshots, boolean identity) {
  public KeyUse {
    requireNonNull(keyId, "keyId");
  }

  /** True if the node could not read all its files without the key. */
  public boolean isInUse() {
    return lastLogIndex >= 0 || snapshots > 0 || identity;
  }
}
