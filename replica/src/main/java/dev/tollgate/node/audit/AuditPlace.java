package dev.tollgate.node.audit;

import static java.util.Objects.requireNonNull;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A place between two lines of the audit files. The file is named by a hash, because its name
 * changes when the next file begins.
 *
 * @param file the hash of the first line of the file
 * @param bytes of the file before the place
 * @param chain the hash of the line before the place
 */
record AuditPlace(String file, long bytes, String chain) {
  private static final Pattern FORM =
      Pattern.compile("1 ([0-9a-f]{64}) (\\d{1,15}) ([0-9a-f]{64})\\n");

  AuditPlace {
    requireNonNull(file, "file");
    requireNonNull(chain, "chain");
  }

  /** Reads what {@link #text} has made; returns null for anything else. */
  static @Nullable AuditPlace parse(String text) {
    Matcher parts = FORM.matcher(text);
    return parts.matches()
        ? new AuditPlace(parts.group(1), Long.parseLong(parts.group(2)), parts.group(3))
        : null;
  }

  /** One line; its first word is the version of the form. */
  String text() {
    return "1 " + file + ' ' + bytes + ' ' + chain + '\n';
  }
}
