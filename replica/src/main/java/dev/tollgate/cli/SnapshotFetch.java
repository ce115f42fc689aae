package dev.tollgate.cli;

import dev.tollgate.jdbc.TollgateDriver;
import dev.tollgate.transport.SnapshotDownload;
import dev.tollgate.transport.TransportException;
import dev.tollgate.wire.Reply;
import java.io.BufferedOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Properties;

/** Copies a snapshot of a node into a local file. */
final class SnapshotFetch {
  private static final int BUFFER_BYTES = 1 << 20;

  private SnapshotFetch() {}

  /**
   * Writes a snapshot that a node takes now, and syncs the file.
   *
   * @param properties as for a connection
   * @param leaderOnly true for a snapshot that covers everything committed before
   * @param file is replaced
   */
  static Reply.SnapshotOpened write(
      String url, Properties properties, boolean leaderOnly, Path file) throws IOException {
    try (SnapshotDownload download = TollgateDriver.openSnapshot(url, properties, leaderOnly);
        FileOutputStream out = new FileOutputStream(file.toFile())) {
      BufferedOutputStream buffered = new BufferedOutputStream(out, BUFFER_BYTES);
      download.copyTo(buffered);
      buffered.flush();
      out.getFD().sync();
      return download.opened();
    } catch (SQLException e) {
      throw new IOException(SqlCommand.describe(e), e);
    } catch (TransportException e) {
      throw new IOException(e.getMessage(), e);
    }
  }
}
