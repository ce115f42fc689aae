package dev.tollgate.log.ratis;

import dev.tollgate.log.DamagedFileException;
import dev.tollgate.log.SyncedFiles;
import dev.tollgate.log.WholeFile;
import dev.tollgate.log.snapshot.SnapshotFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.jspecify.annotations.Nullable;

/**
 * The list of members that a node needs once its log does not reach back to the entry that names
 * them. Ratis 3.3.0 (RaftStorageImpl) keeps it in a file without a checksum, goes on without a file
 * that it cannot read or write, and writes that of a snapshot after the snapshot has replaced the
 * log. So this file is the one that counts, and the file of Ratis is made from it at each start.
 */
final class MembersFile {
  private static final String NAME = "members";
  private static final String OF_RATIS = "raft-meta.conf";

  private MembersFile() {}

  /**
   * Records members, unless later ones are recorded.
   *
   * @param group the directory of the group
   * @param entry the entry that names them
   */
  static void write(Path group, LogEntryProto entry) throws IOException {
    LogEntryProto before = read(group);
    if (before == null || before.getIndex() < entry.getIndex()) {
      replace(group, entry);
    }
  }

  /** Records members in place of any others, because another state takes the place of this one. */
  static void replace(Path group, LogEntryProto entry) throws IOException {
    WholeFile.write(
        group.resolve(NAME), HexFormat.of().formatHex(entry.toByteArray()).concat("\n"));
  }

  /**
   * Makes the file of Ratis, before Ratis reads it.
   *
   * @throws IOException if the members are not known any more
   */
  static void restore(Path group) throws IOException {
    Path ofRatis = group.resolve("current").resolve(OF_RATIS);
    LogEntryProto entry = read(group);
    if (entry == null) {
      requireLogFromTheBeginning(group);
      Files.deleteIfExists(ofRatis);
      return;
    }
    byte[] content = entry.toByteArray();
    if (!Files.exists(ofRatis) || !Arrays.equals(content, Files.readAllBytes(ofRatis))) {
      Path unfinished = group.resolve(OF_RATIS + ".tmp");
      SyncedFiles.write(unfinished, out -> SyncedFiles.write(out, ByteBuffer.wrap(content)));
      SyncedFiles.move(unfinished, ofRatis);
    }
  }

  private static @Nullable LogEntryProto read(Path group) throws IOException {
    Path file = group.resolve(NAME);
    if (!Files.exists(file)) {
      return null;
    }
    try {
      return LogEntryProto.parseFrom(HexFormat.of().parseHex(WholeFile.read(file).strip()));
    } catch (DamagedFileException e) {
      throw lost(file, DamagedFileException.HOW, e);
    }
  }

  /** A node whose log begins with its cluster finds there who the members are. */
  private static void requireLogFromTheBeginning(Path group) throws IOException {
    List<SnapshotFiles.Snapshot> all =
        new SnapshotFiles(group.toString(), group.resolve("sm")).all();
    for (SnapshotFiles.Snapshot snapshot : all) {
      if (!NodeDirectory.beginsAnEpoch(snapshot.last().getIndex())) {
        throw lost(group.resolve(NAME), "the file is missing", null);
      }
    }
  }

  private static IOException lost(Path file, String how, @Nullable IOException cause) {
    return new IOException(
        "its list of members in " + file + " is lost (" + how + "). " + LogTail.RESEED, cause);
  }
}
