package dev.tollgate.cli;

import dev.tollgate.jdbc.TollgateDriver;
import dev.tollgate.log.PrivateFiles;
import dev.tollgate.seal.ChunkOutput;
import dev.tollgate.transport.SnapshotDownload;
import dev.tollgate.transport.TransportException;
import dev.tollgate.wire.Reply;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/** Copies a snapshot of a node into a local file. */
final class SnapshotFetch {
  private static final int BUFFER_BYTES = 1 << 20;

  private SnapshotFetch() {}

  /** Encrypts what is written. */
  interface Seal {
    /** Returns what encrypts this snapshot; the other stays open. */
    ChunkOutput over(OutputStream out, Reply.SnapshotOpened snapshot) throws IOException;
  }

  /**
   * Writes a snapshot that a node takes now, and syncs the file.
   *
   * @param properties as for a connection
   * @param leaderOnly true for a snapshot that covers everything committed before
   * @param file is replaced; from its first byte on only this user may read it
   * @param seal encrypts the file, or null
   */
  static Reply.SnapshotOpened write(
      String url, Properties properties, boolean leaderOnly, Path file, @Nullable Seal seal)
      throws IOException {
    try (SnapshotDownload download = TollgateDriver.openSnapshot(url, properties, leaderOnly);
        FileChannel out = PrivateFiles.replace(file)) {
      BufferedOutputStream buffered =
          new BufferedOutputStream(Channels.newOutputStream(out), BUFFER_BYTES);
      if (seal == null) {
        download.copyTo(buffered);
      } else {
        ChunkOutput sealed = seal.over(buffered, download.opened());
        download.copyTo(sealed);
        sealed.finish();
      }
      buffered.flush();
      out.force(true);
      return download.opened();
    } catch (SQLException e) {
      throw new IOException(SqlCommand.describe(e), e);
    } catch (TransportException e) {
      throw new IOException(e.getMessage(), e);
    }
  }
}
