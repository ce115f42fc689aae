package dev.tollgate.migrations;

import java.math.BigInteger;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The version of a script, as Flyway counts: numbers between dots or underscores, compared one by
 * one, so that 1.10 comes after 1.9, and 1.0 is 1.
 */
public record Version(List<BigInteger> parts) implements Comparable<Version> {
  private static final Pattern TEXT = Pattern.compile("\\d{1,18}([._]\\d{1,18}){0,19}");

  public Version {
    parts = List.copyOf(parts);
    if (parts.isEmpty()) {
      throw new IllegalArgumentException("a version has at least one number");
    }
  }

  /** Reads a version such as 1.2 or 2026_11_20. */
  public static Version parse(String text) throws MigrationException {
    if (!TEXT.matcher(text).matches()) {
      throw new MigrationException(
          MigrationException.Reason.INPUT,
          "'" + text + "' is no version: write numbers with dots, such as 1.2");
    }
    return new Version(withoutTrailingZeros(Stream.of(text.split("[._]")).map(BigInteger::new)));
  }

  private static List<BigInteger> withoutTrailingZeros(Stream<BigInteger> numbers) {
    List<BigInteger> all = numbers.toList();
    int size = all.size();
    while (size > 1 && all.get(size - 1).signum() == 0) {
      size--;
    }
    return all.subList(0, size);
  }

  @Override
  public int compareTo(Version other) {
    int most = Math.max(parts.size(), other.parts.size());
    for (int i = 0; i < most; i++) {
      int order = part(i).compareTo(other.part(i));
      if (order != 0) {
        return order;
      }
    }
    return 0;
  }

  private BigInteger part(int index) {
    return index < parts.size() ? parts.get(index) : BigInteger.ZERO;
  }

  @Override
  public String toString() {
    return String.join(".", parts.stream().map(BigInteger::toString).toList());
  }
}
