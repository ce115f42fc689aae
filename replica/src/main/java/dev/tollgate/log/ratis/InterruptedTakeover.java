package dev.tollgate.log.ratis;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.apache.ratis.server.storage.RaftStorageDirectory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a node leaves on its disk that was killed while it took over a snapshot. Ratis 3.3.0
 * (SnapshotManager) receives the snapshot in a temporary directory, moves the state directory
 * aside, moves the temporary one in its place, and deletes the old one. Only then does it order
 * that the log be cut. It repairs none of this at the next start.
 */
final class InterruptedTakeover {
  private static final Logger LOG = LoggerFactory.getLogger(InterruptedTakeover.class);
  private static final String RECEIVED = "snapshot-";

  private InterruptedTakeover() {}

  /**
   * Puts the state directory back if nothing has taken its place, and removes what is left of it or
   * of a snapshot that did not arrive as a whole.
   */
  static void clean(RaftStorageDirectory storage) throws IOException {
    Path state = storage.getStateMachineDir().toPath();
    Path root = Objects.requireNonNull(state.getParent(), "root");
    String moved = state.getFileName() + ".tmp";
    List<Path> aside = named(root, moved);
    if (!Files.exists(state) && !aside.isEmpty()) {
      Path newest = aside.get(aside.size() - 1);
      LOG.warn("{}: is put back as {}, since no snapshot took its place", newest, state);
      Files.move(newest, state);
    }
    for (Path left : named(root, moved)) {
      delete(left);
    }
    for (Path left : named(storage.getTmpDir().toPath(), RECEIVED)) {
      delete(left);
    }
  }

  private static List<Path> named(Path directory, String prefix) throws IOException {
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(file -> String.valueOf(file.getFileName()).startsWith(prefix))
          .sorted()
          .toList();
    }
  }

  private static void delete(Path left) throws IOException {
    LOG.info("{}: is removed, left over from an interrupted transfer of a snapshot", left);
    try (Stream<Path> files = Files.walk(left)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
