package dev.tollgate.migrations;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.zip.CRC32;

/**
 * CRC32 of statements as their script has them, one after the other: neither the values of
 * placeholders nor the ends of lines count.
 */
final class StatementChecksum {
  private final CRC32 crc = new CRC32();

  /** Of the first 0, 1, 2 ... statements. */
  static long[] ofEach(List<SqlStatement> statements) {
    long[] values = new long[statements.size() + 1];
    StatementChecksum checksum = new StatementChecksum();
    for (int i = 0; i < statements.size(); i++) {
      values[i] = checksum.value();
      checksum.add(statements.get(i));
    }
    values[statements.size()] = checksum.value();
    return values;
  }

  void add(SqlStatement statement) {
    String text = statement.written().replace("\r\n", "\n").replace('\r', '\n');
    crc.update(text.getBytes(StandardCharsets.UTF_8));
    crc.update(';');
  }

  long value() {
    return crc.getValue();
  }
}
