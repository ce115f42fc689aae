package dev.tollgate.core.command;

/**
 * The digest of all that a replica has done, after an entry of the log.
 *
 * @param logIndex the entry; 0 for none
 */
public record AppliedDigest(long logIndex, long value) {
  /** Of a replica that has applied nothing. */
  public static final AppliedDigest NONE = new AppliedDigest(0, 0);

  public AppliedDigest {
    if (logIndex < 0) {
      throw new IllegalArgumentException("log index " + logIndex);
    }
  }

  /** Returns true if there is no entry. */
  public boolean isNone() {
    return logIndex == 0;
  }
}
