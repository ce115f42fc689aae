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
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot outside its node, in a file that has been read to its end once and was complete.
 *
 * @param logIndex index of the last log entry that changed something, as the state records it
 * @param at the time of that entry
 * @param epoch of the tokens
 * @param passphrase with which the file is encrypted, or null
 */
public record Backup(
    Path file, long logIndex, Instant at, int epoch, @Nullable Passphrase passphrase) {
  private static final int BUFFER_BYTES = 1 << 20;

  public Backup {
    requireNonNull(file, "file");
    requireNonNull(at, "at");
  }

  /** Reads a file that is not encrypted to its end. */
  public static Backup check(Path file) throws IOException {
    return check(file, null);
  }

  /**
   * Reads a file to its end.
   *
   * @param passphrase with which the file is encrypted; null if it is not
   * @throws CorruptSnapshotException if it is no complete snapshot, or the passphrase is wrong
   * @throws UnknownVersionException if its version is not known here
   * @throws IOException if the file is encrypted and there is no passphrase, or the other way round
   */
  public static Backup check(Path file, @Nullable Passphrase passphrase) throws IOException {
    try (InputStream in = open(file, passphrase)) {
      StateRecord.Counters counters = counters(in);
      return new Backup(
          file,
          counters.position().logIndex(),
          Instant.EPOCH.plus(counters.position().timeMicros(), ChronoUnit.MICROS),
          counters.epoch(),
          passphrase);
    }
  }

  /**
   * Reads a snapshot to its end.
   *
   * @throws CorruptSnapshotException if it is no complete snapshot
   * @throws UnknownVersionException if its version is not known here
   */
  public static void requireComplete(InputStream in) throws IOException {
    var unused = counters(in);
  }

  private static StateRecord.Counters counters(InputStream in) throws IOException {
    SnapshotReader reader = new SnapshotReader(in);
    StateRecord.Counters found = null;
    for (SnapshotReader.Piece piece = reader.next(); piece != null; piece = reader.next()) {
      if (piece.kind() < StateCodec.FIRST_FREE_KIND
          && StateCodec.read(piece.kind(), piece.body()) instanceof StateRecord.Counters counters) {
        found = counters;
      }
    }
    if (found == null) {
      throw new CorruptSnapshotException("the snapshot has no state of locks");
    }
    return found;
  }

  /** Opens the file for reading. */
  public InputStream open() throws IOException {
    return open(file, passphrase);
  }

  private static InputStream open(Path file, @Nullable Passphrase passphrase) throws IOException {
    InputStream in = new BufferedInputStream(Files.newInputStream(file), BUFFER_BYTES);
    try {
      in.mark(SealedFormat.MAGIC.length);
      boolean encrypted =
          Arrays.equals(in.readNBytes(SealedFormat.MAGIC.length), SealedFormat.MAGIC);
      in.reset();
      if (encrypted && passphrase == null) {
        throw new IOException(file + " is encrypted: give its passphrase with --passphrase-file");
      }
      if (!encrypted && passphrase != null) {
        throw new IOException(
            file
                + " is not encrypted, so anybody may have made or changed it: leave out"
                + " --passphrase-file if you want it all the same");
      }
      return passphrase == null ? in : SealedFormat.open(in, passphrase);
    } catch (IOException | RuntimeException e) {
      in.close();
      throw e;
    }
  }

  /**
   * Returns the state with which a new cluster begins. It is the backup's state with a higher epoch
   * of tokens. It has no cluster id, no nodes and no environment, and its leases have their full
   * time. No client can use its sessions, whose secrets are in the backup. Equal backups and epochs
   * give equal states.
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
            state instanceof StateRecord.Counters counters
                ? counters.inEpoch(epoch)
                : state instanceof StateRecord.SessionState session
                    ? session.withoutSecret()
                    : state;
        out.record(StateCodec.write(body, kept), body);
      }
    }
  }
}
