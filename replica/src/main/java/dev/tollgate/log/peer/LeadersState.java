package dev.tollgate.log.peer;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.SnapshotFile;
import dev.tollgate.seal.StoredFile;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.server.RaftServer;
import org.jspecify.annotations.Nullable;

/**
 * Gives the state of the leader, as a snapshot, to a node whose own state differs. Answers one call
 * after the other, and keeps nothing of them: a node whose connection was lost goes on with
 * another.
 */
final class LeadersState {
  /** Bytes of one part. */
  private static final int PART_BYTES = 256 << 10;

  private final PeerSettings settings;
  private final RaftServer server;
  private @Nullable CompletableFuture<SnapshotFile> taking;

  LeadersState(PeerSettings settings, RaftServer server) {
    this.settings = requireNonNull(settings, "settings");
    this.server = requireNonNull(server, "server");
  }

  /**
   * Returns the answer to a call of the kind STATE or STATE_PART.
   *
   * @throws IOException if this node does not lead, or has no such snapshot, or not yet
   */
  byte[] answer(Frame frame) throws IOException {
    WireReader body = frame.body();
    WireWriter answer =
        frame.kind() == Frame.Kind.STATE
            ? newest(body.i64())
            : part(body.i64(), body.i64(), body.i64());
    return Frame.of(Frame.Kind.DONE, frame.call(), 0, answer);
  }

  private WireWriter newest(long logIndex) throws IOException {
    if (!server.getDivision(settings.group()).getInfo().isLeaderReady()) {
      throw new IOException("node " + settings.nodeId() + " does not lead");
    }
    for (SnapshotFile snapshot : settings.snapshots().list()) {
      if (snapshot.index() >= logIndex) {
        return new WireWriter(3 * Long.BYTES)
            .i64(snapshot.term())
            .i64(snapshot.index())
            .i64(snapshot.sizeBytes());
      }
    }
    if (taking == null || taking.isDone()) {
      taking = settings.snapshots().take();
    }
    throw new IOException("a snapshot that covers entry " + logIndex + " is yet to be taken");
  }

  private WireWriter part(long term, long logIndex, long offset) throws IOException {
    for (SnapshotFile snapshot : settings.snapshots().list()) {
      if (snapshot.term() == term && snapshot.index() == logIndex) {
        try (StoredFile file = settings.snapshots().open(snapshot)) {
          ByteBuffer part = ByteBuffer.allocate(PART_BYTES);
          file.read(part, offset);
          return new WireWriter(part.position() + Integer.BYTES)
              .bytes(Arrays.copyOf(part.array(), part.position()));
        }
      }
    }
    throw new IOException("the snapshot at log index " + logIndex + " is gone: ask for the newest");
  }
}
