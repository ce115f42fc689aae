package dev.tollgate.log.peer;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.snapshot.SnapshotFiles;
import dev.tollgate.seal.DirectoryKeys;
import dev.tollgate.seal.StoredFile;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import org.apache.ratis.proto.RaftProtos.FileChunkProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto.SnapshotChunkProto;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;
import org.apache.ratis.util.MD5FileUtil;

/**
 * The requests that bring a sealed snapshot to a follower: Ratis would send the file as it is on
 * the disk, and the follower has other keys. Not thread-safe.
 */
final class OpenedSnapshot implements Closeable {
  private final StoredFile file;
  private final InstallSnapshotRequestProto first;
  private final FileChunkProto firstChunk;
  private final MessageDigest digest = MD5FileUtil.newMD5();
  private long offset;
  private int number;
  private boolean ended;

  /**
   * @param first the first request of Ratis for the file, whose chunk is as large as all
   */
  OpenedSnapshot(InstallSnapshotRequestProto first, SnapshotInfo snapshot, DirectoryKeys keys)
      throws IOException {
    this.first = requireNonNull(first, "first");
    this.firstChunk = first.getSnapshotChunk().getFileChunks(0);
    this.file =
        keys.openStored(
            snapshot.getFiles().get(0).getPath(), SnapshotFiles.nameOf(snapshot.getTermIndex()));
  }

  boolean hasNext() {
    return !ended;
  }

  InstallSnapshotRequestProto next() throws IOException {
    int most = Math.max(1, firstChunk.getData().size());
    ByteBuffer data = ByteBuffer.allocate((int) Math.min(most, file.size() - offset));
    file.read(data, offset);
    data.flip();
    digest.update(data.duplicate());
    ended = offset + data.remaining() >= file.size();
    SnapshotChunkProto.Builder chunk =
        first.getSnapshotChunk().toBuilder()
            .setRequestIndex(number)
            .setTotalSize(file.size())
            .setDone(ended)
            .setFileChunks(
                0,
                firstChunk.toBuilder()
                    .setChunkIndex(number)
                    .setOffset(offset)
                    .setDone(ended)
                    .setFileDigest(ended ? ByteString.copyFrom(digest.digest()) : ByteString.EMPTY)
                    .setData(UnsafeByteOperations.unsafeWrap(data)));
    offset += data.remaining();
    number++;
    return first.toBuilder().setSnapshotChunk(chunk).build();
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
