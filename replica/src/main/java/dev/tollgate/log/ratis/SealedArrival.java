package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.snapshot.SnapshotFiles;
import dev.tollgate.seal.ChunkOutput;
import dev.tollgate.seal.DirectoryKeys;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.security.MessageDigest;
import java.util.Arrays;
import org.apache.ratis.proto.RaftProtos.FileChunkProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto.SnapshotChunkProto;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.MD5FileUtil;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot of the leader, which arrives in the clear: it is sealed with the keys of this node
 * before Ratis writes any of it. Not thread-safe.
 */
final class SealedArrival {
  private final DirectoryKeys keys;
  private @Nullable Sealing sealing;

  SealedArrival(DirectoryKeys keys) {
    this.keys = requireNonNull(keys, "keys");
  }

  /**
   * Returns a request with what is to be written.
   *
   * @throws IOException if a part is missing before it, or other bytes have arrived than were sent
   */
  InstallSnapshotRequestProto seal(InstallSnapshotRequestProto request) throws IOException {
    if (!keys.isOn() || request.getSnapshotChunk().getFileChunksCount() == 0) {
      return request;
    }
    SnapshotChunkProto part = request.getSnapshotChunk();
    Sealing current = sealing;
    if (part.getRequestIndex() == 0) {
      current = new Sealing(part);
      sealing = current;
    }
    if (current == null || !current.isNext(part)) {
      throw new IOException(
          "part " + part.getRequestIndex() + " of a snapshot comes without those before it");
    }
    SnapshotChunkProto.Builder sealed = part.toBuilder();
    for (int i = 0; i < part.getFileChunksCount(); i++) {
      sealed.setFileChunks(i, current.seal(part.getFileChunks(i)));
    }
    current.taken++;
    return request.toBuilder().setSnapshotChunk(sealed).build();
  }

  /** One snapshot on its way. */
  private final class Sealing {
    private final String requestId;
    private final ByteArrayOutputStream sealed = new ByteArrayOutputStream();
    private final MessageDigest arrived = MD5FileUtil.newMD5();
    private final MessageDigest written = MD5FileUtil.newMD5();
    private final ChunkOutput out;
    private long offset;
    private int taken;

    Sealing(SnapshotChunkProto first) throws IOException {
      this.requestId = first.getRequestId();
      this.out = keys.seal(sealed, SnapshotFiles.nameOf(TermIndex.valueOf(first.getTermIndex())));
    }

    boolean isNext(SnapshotChunkProto part) {
      return part.getRequestId().equals(requestId) && part.getRequestIndex() == taken;
    }

    FileChunkProto seal(FileChunkProto chunk) throws IOException {
      byte[] plain = chunk.getData().toByteArray();
      arrived.update(plain);
      out.write(plain);
      FileChunkProto.Builder as = chunk.toBuilder().setOffset(offset);
      if (chunk.getDone()) {
        if (!Arrays.equals(arrived.digest(), chunk.getFileDigest().toByteArray())) {
          throw new IOException("the snapshot that has arrived is not the one that was sent");
        }
        out.finish();
      }
      byte[] bytes = sealed.toByteArray();
      sealed.reset();
      written.update(bytes);
      offset += bytes.length;
      if (chunk.getDone()) {
        as.setFileDigest(ByteString.copyFrom(written.digest()));
      }
      return as.setData(ByteString.copyFrom(bytes)).build();
    }
  }
}
