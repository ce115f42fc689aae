package dev.tollgate.node;

import dev.tollgate.core.ClusterState;
import dev.tollgate.node.replica.Replica;
import dev.tollgate.node.replica.SnapshotTrial;
import dev.tollgate.snapshot.Backup;
import dev.tollgate.snapshot.SnapshotReader;
import dev.tollgate.store.SqlDatabase;
import java.io.IOException;
import java.io.InputStream;

/** Loads a backup as a node that starts from it does, in this process and without a directory. */
public final class BackupTrial {
  private BackupTrial() {}

  /**
   * Reads a backup as a node does that starts from it, with memory for its definitions alone.
   *
   * @return the number of its rows
   * @throws IOException if a node could not start from it
   */
  public static long read(Backup backup) throws IOException {
    try (InputStream in = backup.open()) {
      return SnapshotTrial.read(new SnapshotReader(in));
    }
  }

  /**
   * Loads a backup into memory, checks it, and forgets it.
   *
   * @return what it has, in words
   * @throws IOException if a node could not start from it
   */
  public static String load(Backup backup) throws IOException {
    try (InputStream in = backup.open();
        SqlDatabase database = new SqlDatabase()) {
      Replica replica = new Replica("trial", database);
      replica.restore(new SnapshotReader(in));
      return replica.state().look(BackupTrial::describe);
    } catch (RuntimeException e) {
      throw new IOException("no node can start from it: " + e, e);
    } catch (OutOfMemoryError e) {
      throw new IOException(
          "it does not fit into the memory of this process: raise TOLLGATE_HEAP", e);
    }
  }

  private static String describe(ClusterState state) {
    return String.format(
        "%d held locks, %d leases, %d sessions",
        state.locks().stream().filter(lock -> lock.holders() > 0).count(),
        state.leases().size(),
        state.sessions().size());
  }
}
