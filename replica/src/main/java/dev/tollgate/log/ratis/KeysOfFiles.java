package dev.tollgate.log.ratis;

import dev.tollgate.log.peer.NodeIdentity;
import dev.tollgate.log.peer.SealedEntries;
import dev.tollgate.log.snapshot.SnapshotFiles;
import dev.tollgate.log.snapshot.Snapshots;
import dev.tollgate.seal.FileSeal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;

/** Reads with which data keys the files of a node are sealed. Needs none of the keys. */
public final class KeysOfFiles {
  private KeysOfFiles() {}

  /**
   * Reads the identity, the log and the snapshots of a node, which may run.
   *
   * @param data the directory of the node
   * @return for each file the names of the keys, and {@link SealedEntries#CLEAR} if it has what is
   *     not sealed
   */
  public static SortedMap<Path, Set<String>> of(Path data) throws IOException {
    SortedMap<Path, Set<String>> keys = new TreeMap<>();
    Path identity = data.resolve(NodeIdentity.FILE);
    if (Files.exists(identity)) {
      keys.put(identity, keyOf(identity));
    }
    Path group = RatisLog.groupDirectory(data);
    Path log = group.resolve("current");
    if (Files.isDirectory(log)) {
      for (Path segment : Snapshots.segments(log)) {
        Set<String> found = new TreeSet<>();
        LogTail.read(
            segment,
            bytes -> SealedEntries.keyOf(LogEntryProto.parseFrom(bytes)).ifPresent(found::add));
        keys.put(segment, found);
      }
    }
    for (SnapshotFiles.Snapshot snapshot :
        new SnapshotFiles(data.toString(), group.resolve("sm")).all()) {
      keys.put(snapshot.file(), keyOf(snapshot.file()));
    }
    return keys;
  }

  private static Set<String> keyOf(Path file) throws IOException {
    return new TreeSet<>(List.of(FileSeal.keyOf(file).orElse(SealedEntries.CLEAR)));
  }
}
