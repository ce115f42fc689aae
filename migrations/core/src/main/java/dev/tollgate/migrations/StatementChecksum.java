package dev.tollgate.migrations;

import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;

/** CRC32 of statements as they are sent, one after the other. */
final class StatementChecksum {
  private final CRC32 crc = new CRC32();

  void add(SqlStatement statement) {
    crc.update(statement.sql().getBytes(StandardCharsets.UTF_8));
    crc.update(';');
  }

  long value() {
    return crc.getValue();
  }
}
