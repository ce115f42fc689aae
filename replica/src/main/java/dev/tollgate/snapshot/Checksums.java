package dev.tollgate.snapshot;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** The hash function of checksums over a replica's state. */
public final class Checksums {
  private Checksums() {}

  /** Returns a new SHA-256. */
  public static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
