package dev.tollgate.node.replica;

import dev.tollgate.core.StateRecord;
import dev.tollgate.snapshot.SnapshotReader;
import dev.tollgate.snapshot.StateCodec;
import dev.tollgate.store.SqlDatabase;
import dev.tollgate.store.transfer.DatabaseRestore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads a snapshot as a restart does, and keeps nothing: definitions and fences are made in an
 * empty database, and each row is decoded, compared and forgotten. Needs memory for the definitions
 * alone.
 */
public final class SnapshotTrial {
  private SnapshotTrial() {}

  /**
   * Reads a snapshot to its end.
   *
   * @return the number of rows in it
   * @throws IOException naming the object that cannot be made again, or the damage of the file
   */
  public static long read(SnapshotReader snapshot) throws IOException {
    DatabaseRestore trial = SqlDatabase.beginTrial();
    try {
      List<StateRecord.FenceState> fences = new ArrayList<>();
      for (SnapshotReader.Piece piece = snapshot.next(); piece != null; piece = snapshot.next()) {
        if (piece.kind() >= StateCodec.FIRST_FREE_KIND) {
          trial.accept(piece.kind(), piece.body());
        } else if (StateCodec.read(piece.kind(), piece.body())
            instanceof StateRecord.FenceState fence) {
          fences.add(fence);
        }
      }
      return SqlDatabase.endTrial(trial, fences);
    } catch (RuntimeException e) {
      throw new IOException("no node can start from it: " + e.getMessage(), e);
    } finally {
      trial.abandon();
    }
  }
}
