package dev.tollgate.snapshot;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** What the state of a replica is summed up with. */
public final class Checksums {
  private Checksums() {}

  /** A new SHA-256. */
  public static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
