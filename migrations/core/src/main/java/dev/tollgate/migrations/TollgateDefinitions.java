package dev.tollgate.migrations;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HexFormat;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/** All definitions of a Tollgate as a short text, which differs if one has changed (ADR 0058). */
final class TollgateDefinitions {
  /** The one part of a definition that rows change: how far a sequence has come. */
  private static final Pattern SEQUENCE_VALUE = Pattern.compile("(?i) (START|RESTART) WITH -?\\d+");

  private static final int READS = 5;
  private static final String CONFLICT = "40001";

  private TollgateDefinitions() {}

  /** Reads on the connection of the lock, because SCRIPT does not run in a transaction. */
  static String digest(MigrationLock lock) throws SQLException {
    for (int read = 1; ; read++) {
      try {
        return digest(script(lock));
      } catch (SQLException e) {
        // a definition of another client had waited for the script
        if (!CONFLICT.equals(e.getSQLState()) || read == READS) {
          throw e;
        }
      }
    }
  }

  /** In an order that does not depend on when objects were made. */
  private static Set<String> script(MigrationLock lock) throws SQLException {
    Set<String> lines = new TreeSet<>();
    try (Statement statement = lock.reader();
        ResultSet row = statement.executeQuery("SCRIPT NODATA")) {
      while (row.next()) {
        String line = row.getString(1);
        if (!line.startsWith("--")) {
          lines.add(SEQUENCE_VALUE.matcher(line).replaceAll(""));
        }
      }
    }
    return lines;
  }

  private static String digest(Set<String> lines) {
    try {
      byte[] text = String.join("\n", lines).getBytes(StandardCharsets.UTF_8);
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
