package dev.tollgate.node.replica;

import dev.tollgate.core.CoreCopy;
import dev.tollgate.core.StateMachine;
import dev.tollgate.core.StateRecord;
import dev.tollgate.snapshot.SnapshotReader;
import dev.tollgate.snapshot.SnapshotWriter;
import dev.tollgate.snapshot.StateCodec;
import dev.tollgate.snapshot.StateCopy;
import dev.tollgate.store.SqlDatabase;
import dev.tollgate.store.transfer.DatabaseCopy;
import dev.tollgate.store.transfer.DatabaseRestore;
import dev.tollgate.wire.WireWriter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** A replica's state at one moment. In a snapshot the core's records come first. */
final class ReplicaCopy implements StateCopy {
  private final CoreCopy core;
  private final DatabaseCopy database;

  ReplicaCopy(CoreCopy core, DatabaseCopy database) {
    this.core = core;
    this.database = database;
  }

  @Override
  public void writeTo(SnapshotWriter out) throws IOException {
    WireWriter body = new WireWriter();
    for (StateRecord piece : core) {
      body.clear();
      out.record(StateCodec.write(body, piece), body);
    }
    database.writeTo(out);
  }

  @Override
  public void close() {
    database.close();
  }

  /** Restores a snapshot into a machine that has applied nothing, and into its database. */
  static void read(SnapshotReader snapshot, StateMachine machine, SqlDatabase database)
      throws IOException {
    DatabaseRestore restore = database.beginRestore();
    try {
      read(snapshot, machine, database, restore);
    } catch (IOException | RuntimeException e) {
      restore.abandon();
      throw e;
    }
  }

  private static void read(
      SnapshotReader snapshot, StateMachine machine, SqlDatabase database, DatabaseRestore restore)
      throws IOException {
    List<StateRecord.FenceState> fences = new ArrayList<>();
    for (SnapshotReader.Piece piece = snapshot.next(); piece != null; piece = snapshot.next()) {
      if (piece.kind() >= StateCodec.FIRST_FREE_KIND) {
        restore.accept(piece.kind(), piece.body());
      } else {
        StateRecord state = StateCodec.read(piece.kind(), piece.body());
        machine.restore(state);
        if (state instanceof StateRecord.FenceState fence) {
          fences.add(fence);
        }
      }
    }
    database.replaceWith(restore, fences);
  }
}
