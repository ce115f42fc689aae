package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.SyncedFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A snapshot of the leader that takes the place of this node's state: the old state is there until
 * the new one is synced under its name (ADR 0106). Ratis 3.3.0 (SnapshotManager) receives the
 * snapshot in a temporary directory, moves the state directory aside, moves the temporary one in
 * its place, and deletes the old one. It syncs none of this, cuts its log, and acknowledges. It
 * repairs nothing at the next start. So this class moves the state directory aside itself, and
 * Ratis finds none to delete.
 *
 * <p>Thread-safe.
 */
final class SnapshotArrival {
  private static final Logger LOG = LoggerFactory.getLogger(SnapshotArrival.class);
  private static final String RECEIVED = "snapshot-";
  private static final String ASIDE = ".tmp";

  private final Path root;
  private final Path state;
  private final Path temporary;

  /** True from when the old state is moved aside until the new one is synced in its place. */
  private volatile boolean replacing;

  /**
   * @param state the directory of snapshots
   * @param temporary where Ratis receives one
   */
  SnapshotArrival(Path state, Path temporary) {
    this.state = requireNonNull(state, "state");
    this.temporary = requireNonNull(temporary, "temporary");
    this.root = requireNonNull(state.getParent(), "root");
  }

  /** Syncs what has arrived so far. */
  void syncArriving() throws IOException {
    if (Files.exists(temporary)) {
      SyncedFiles.syncAll(temporary, file -> true);
    }
  }

  /**
   * Syncs what has arrived, and moves the old state aside; called just before Ratis moves the new
   * one in its place.
   */
  synchronized void arrived() throws IOException {
    replacing = false;
    syncArriving();
    if (Files.exists(state)) {
      removeAside();
      SyncedFiles.move(state, root.resolve(state.getFileName() + ASIDE));
    }
    replacing = true;
  }

  /**
   * Syncs the names if Ratis has moved the new state in its place, and then removes the old one.
   * Until this has returned, nothing may follow from the new state.
   */
  void settle() throws IOException {
    // asked for each append
    if (replacing) {
      settleReplaced();
    }
  }

  private synchronized void settleReplaced() throws IOException {
    if (replacing && Files.exists(state)) {
      SyncedFiles.sync(root);
      removeAside();
      replacing = false;
    }
  }

  /** Puts the state directory back at a start if nothing has taken its place. */
  synchronized void putBack() throws IOException {
    List<Path> aside = aside();
    if (!Files.exists(state) && !aside.isEmpty()) {
      Path newest = aside.get(aside.size() - 1);
      LOG.warn("{}: is put back as {}, since no snapshot took its place", newest, state);
      SyncedFiles.move(newest, state);
    }
  }

  /**
   * Removes at a start what an interrupted transfer has left, once what is in its place is synced.
   */
  synchronized void removeLeft() throws IOException {
    removeAside();
    for (Path left : named(temporary, RECEIVED)) {
      delete(left);
    }
  }

  private void removeAside() throws IOException {
    for (Path left : aside()) {
      delete(left);
    }
  }

  private List<Path> aside() throws IOException {
    return named(root, state.getFileName() + ASIDE);
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
    LOG.info("{}: is removed, left over from a transfer of a snapshot", left);
    try (Stream<Path> files = Files.walk(left)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
