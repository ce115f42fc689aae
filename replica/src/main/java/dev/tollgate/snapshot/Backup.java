package dev.tollgate.snapshot;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.StateRecord;
import dev.tollgate.wire.WireWriter;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * A snapshot outside its node, in a file that has been read to its end once and was complete.
 *
 * @param logIndex index of the last log entry that changed something, as the state records it
 * @param at the time of that entry
 * @param epoch of the tokens
 */
public record Backup(Path file, long logIndex, Instant at, int epoch) {
  private static final int BUFFER_BYTES = 1 << 20;

  public Backup {
    requireNonNull(file, "file");
    requireNonNull(at, "at");
  }

  /**
   * Reads a file to its end.
   *
   * @throws CorruptSnapshotException if it is no complete snapshot
   * @throws UnknownVersionException if its version is not known here
   */
  public static Backup check(Path file) throws IOException {
    try (InputStream in = open(file)) {
      SnapshotReader reader = new SnapshotReader(in);
      Backup backup = null;
      for (SnapshotReader.Piece piece = reader.next(); piece != null; piece = reader.next()) {
        if (piece.kind() < StateCodec.FIRST_FREE_KIND
            && StateCodec.read(piece.kind(), piece.body())
                instanceof StateRecord.Counters counters) {
          backup =
              new Backup(
                  file,
                  counters.position().logIndex(),
                  Instant.EPOCH.plus(counters.position().timeMicros(), ChronoUnit.MICROS),
                  counters.epoch());
        }
      }
      if (backup == null) {
        throw new CorruptSnapshotException("the snapshot has no state of locks");
      }
      return backup;
    }
  }

  /** Opens the file for reading. */
  public InputStream open() throws IOException {
    return open(file);
  }

  private static InputStream open(Path file) throws IOException {
    return new BufferedInputStream(Files.newInputStream(file), BUFFER_BYTES);
  }

  /**
   * Returns the state with which a new cluster begins. It is the backup's state with a higher epoch
   * of tokens. It has no cluster id, no nodes and no environment, and its leases have their full
   * time. Equal backups and epochs give equal states.
   *
   * @param epoch higher than that of the backup
   */
  public StateCopy inEpoch(int epoch) {
    if (epoch <= this.epoch) {
      throw new IllegalArgumentException("epoch " + epoch + " after " + this.epoch);
    }
    return new StateCopy() {
      @Override
      public void writeTo(SnapshotWriter out) throws IOException {
        try (InputStream in = open()) {
          copy(new SnapshotReader(in), out, epoch);
        }
      }

      @Override
      public void close() {}
    };
  }

  private static void copy(SnapshotReader in, SnapshotWriter out, int epoch) throws IOException {
    WireWriter body = new WireWriter(1 << 16);
    for (SnapshotReader.Piece piece = in.next(); piece != null; piece = in.next()) {
      body.clear();
      if (piece.kind() >= StateCodec.FIRST_FREE_KIND) {
        byte[] bytes = piece.body().rest();
        out.record(piece.kind(), bytes);
        continue;
      }
      StateRecord state = StateCodec.read(piece.kind(), piece.body());
      if (!(state instanceof StateRecord.NodeAddress
          || state instanceof StateRecord.Identity
          || state instanceof StateRecord.ComputingState
          || state instanceof StateRecord.LeaseSilence)) {
        StateRecord kept =
            state instanceof StateRecord.Counters counters ? counters.inEpoch(epoch) : state;
        out.record(StateCodec.write(body, kept), body);
      }
    }
  }
}
