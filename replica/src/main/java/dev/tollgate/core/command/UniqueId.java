package dev.tollgate.core.command;

/** A number of 128 bits, drawn at random outside this package, which people read as a UUID. */
public record UniqueId(long high, long low) {
  /** Returns the number as {@code 8-4-4-4-12} hexadecimal digits. */
  @Override
  public String toString() {
    String digits = hex(high) + hex(low);
    return digits.substring(0, 8)
        + "-"
        + digits.substring(8, 12)
        + "-"
        + digits.substring(12, 16)
        + "-"
        + digits.substring(16, 20)
        + "-"
        + digits.substring(20);
  }

  private static String hex(long bits) {
    String digits = Long.toHexString(bits);
    return "0".repeat(16 - digits.length()) + digits;
  }
}
