package dev.tollgate.store;

import dev.tollgate.core.StateMachine;
import dev.tollgate.core.StateRecord;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LogPosition;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.h2.Meter;
import dev.tollgate.log.entry.EntryBytes;
import dev.tollgate.snapshot.SnapshotReader;
import dev.tollgate.snapshot.SnapshotWriter;
import dev.tollgate.snapshot.StateCodec;
import dev.tollgate.store.transfer.DatabaseCopy;
import dev.tollgate.store.transfer.DatabaseRestore;
import dev.tollgate.wire.WireWriter;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A replica that applies the commands of a log, and can be restored from its own snapshot. */
final class LoggedReplica implements AutoCloseable {
  private static final long FIRST_MICROS = 1_700_000_000_000_000L;
  private static final long MICROS_PER_ENTRY = 777;

  final SqlDatabase database = new SqlDatabase();
  StateMachine machine = new StateMachine(database);
  int applied;

  /** What H2 did for the last command, in steps. */
  long steps;

  Outcome apply(Command command) {
    applied++;
    long before = Meter.steps();
    try {
      return machine
          .apply(
              new LogPosition(applied, 0, FIRST_MICROS + applied * MICROS_PER_ENTRY),
              EntryBytes.read(command))
          .outcome();
    } finally {
      steps = Meter.steps() - before;
    }
  }

  byte[] snapshot() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    SnapshotWriter out = new SnapshotWriter(bytes);
    WireWriter body = new WireWriter();
    for (StateRecord piece : state()) {
      body.clear();
      int kind = StateCodec.write(body, piece);
      out.record(kind, body);
    }
    try (DatabaseCopy copy = database.copy(/* insistent= */ false)) {
      copy.writeTo(out);
    }
    out.finish();
    return bytes.toByteArray();
  }

  /** The state of the core, as a snapshot has it. */
  List<StateRecord> state() {
    List<StateRecord> state = new ArrayList<>();
    machine.copy().forEach(state::add);
    return state;
  }

  /** A new replica that has read a snapshot of this one. */
  LoggedReplica restored() throws IOException {
    byte[] snapshot = snapshot();
    LoggedReplica next = new LoggedReplica();
    try {
      next.read(snapshot);
    } catch (IOException | RuntimeException | Error e) {
      next.close();
      throw e;
    }
    next.applied = applied;
    return next;
  }

  /** What a comparison of replicas compares of the database, with transactions open or not. */
  Map<String, String> checksums() throws IOException {
    Map<String, String> checksums = new TreeMap<>();
    try (DatabaseCopy copy = database.copy(/* insistent= */ false)) {
      copy.checksums((part, sum) -> checksums.put(part, HexFormat.of().formatHex(sum)));
    }
    return checksums;
  }

  private void read(byte[] snapshot) throws IOException {
    SnapshotReader in = new SnapshotReader(new ByteArrayInputStream(snapshot));
    DatabaseRestore restore = database.beginRestore();
    List<StateRecord.FenceState> fences = new ArrayList<>();
    machine = new StateMachine(database);
    for (SnapshotReader.Piece piece = in.next(); piece != null; piece = in.next()) {
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

  @Override
  public void close() {
    database.close();
  }
}
