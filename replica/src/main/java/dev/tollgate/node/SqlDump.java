package dev.tollgate.node;

import dev.tollgate.core.StateRecord;
import dev.tollgate.snapshot.Backup;
import dev.tollgate.snapshot.SnapshotReader;
import dev.tollgate.snapshot.StateCodec;
import dev.tollgate.sql.SqlFrontend;
import dev.tollgate.store.transfer.DatabaseDump;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;

/** A backup as SQL: the tables of users and their fences, but no locks, leases, or sessions. */
public final class SqlDump {
  private SqlDump() {}

  /**
   * Writes statements that each end with a semicolon and a newline.
   *
   * @throws IOException if the file cannot be read, the target fails, or a row fits into no
   *     statement
   */
  public static void write(Backup backup, Appendable out) throws IOException {
    List<StateRecord.FenceState> fences = new ArrayList<>();
    try (InputStream in = backup.open();
        DatabaseDump dump = new DatabaseDump(out, SqlFrontend::isShortEnough)) {
      SnapshotReader reader = new SnapshotReader(in);
      for (SnapshotReader.Piece piece = reader.next(); piece != null; piece = reader.next()) {
        if (piece.kind() >= StateCodec.FIRST_FREE_KIND) {
          dump.accept(piece.kind(), piece.body());
        } else if (StateCodec.read(piece.kind(), piece.body())
            instanceof StateRecord.FenceState fence) {
          fences.add(fence);
        }
      }
      dump.finish(fences);
    }
  }
}
