package dev.tollgate.node.replica;

import dev.tollgate.core.StateMachine;
import dev.tollgate.core.StateRecord;
import dev.tollgate.snapshot.SnapshotReader;
import dev.tollgate.snapshot.SnapshotWriter;
import dev.tollgate.snapshot.StateCodec;
import dev.tollgate.snapshot.StateCopy;
import dev.tollgate.store.DatabaseCopy;
import dev.tollgate.store.DatabaseRestore;
import dev.tollgate.store.SqlDatabase;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * A replica's state at one moment: the core's is encoded at once, that of the database is read
 * while it is written. In a snapshot the core's records come first.
 */
final class ReplicaCopy implements StateCopy {
  /** Records of the core, each with its kind u8 and length i32 before it. */
  private final WireWriter core = new WireWriter(1 << 16);

  private final DatabaseCopy database;

  /**
   * @param machine one whose state can be described
   */
  ReplicaCopy(StateMachine machine, DatabaseCopy database) {
    this.database = database;
    WireWriter body = new WireWriter();
    machine.describe(
        piece -> {
          body.clear();
          int kind = StateCodec.write(body, piece);
          core.u8(kind).i32(body.size()).raw(body.array(), 0, body.size());
        });
  }

  @Override
  public void writeTo(SnapshotWriter out) throws IOException {
    WireReader records = new WireReader(core.array(), 0, core.size());
    while (records.remaining() > 0) {
      int kind = records.u8();
      int length = records.i32();
      int offset = core.size() - records.remaining();
      out.record(kind, core.array(), offset, length);
      records = new WireReader(core.array(), offset + length, core.size() - offset - length);
    }
    database.writeTo(out);
  }

  @Override
  public void close() {
    database.close();
  }

  /** Puts a snapshot into a machine that has applied nothing, and into its database. */
  static void read(SnapshotReader snapshot, StateMachine machine, SqlDatabase database)
      throws IOException {
    DatabaseRestore restore = database.beginRestore();
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
