package dev.tollgate.log.ratis;

import dev.tollgate.log.KeyUse;
import dev.tollgate.log.SnapshotFile;
import dev.tollgate.log.peer.SealedEntries;
import dev.tollgate.log.snapshot.Snapshots;
import dev.tollgate.seal.FileSeal;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Finds out which data keys the files of a running node need. */
final class UsedKeys {
  private UsedKeys() {}

  /**
   * @param firstLogIndex the first entry of the log
   * @param keyOfIdentity the key of the file with the identity of the node; null if it is not
   *     sealed
   * @return one for each key that the node has or needs, by name; none for a node that never had
   *     any
   */
  static List<KeyUse> of(
      SealedEntries entries,
      Snapshots snapshots,
      long firstLogIndex,
      @Nullable String keyOfIdentity)
      throws IOException {
    List<String> known = entries.keys().ids();
    if (known.isEmpty()) {
      return List.of();
    }
    SortedMap<String, Long> inLog = entries.inUse(firstLogIndex);
    Map<String, Integer> inSnapshots = new HashMap<>();
    for (SnapshotFile snapshot : snapshots.list()) {
      try {
        FileSeal.keyOf(snapshot.path()).ifPresent(id -> inSnapshots.merge(id, 1, Integer::sum));
      } catch (NoSuchFileException e) {
        // a newer one has just taken its place
      }
    }
    SortedSet<String> all = new TreeSet<>(known);
    all.addAll(inLog.keySet());
    all.addAll(inSnapshots.keySet());
    if (keyOfIdentity != null) {
      all.add(keyOfIdentity);
    }
    List<KeyUse> used = new ArrayList<>();
    for (String id : all) {
      used.add(
          new KeyUse(
              id,
              id.equals(known.get(0)),
              inLog.getOrDefault(id, -1L),
              inSnapshots.getOrDefault(id, 0),
              id.equals(keyOfIdentity)));
    }
    return List.copyOf(used);
  }
}
