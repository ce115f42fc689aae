package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.SyncedFiles;
import dev.tollgate.log.snapshot.Snapshots;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Segments that do not go on where the one before ends, as a stop within a cut of the log leaves
 * them: Ratis 3.3.0 (SegmentedRaftLogWorker.TruncateLog) deletes segments, shortens one and renames
 * it, in this order, and each of these steps may be the last, or may fail. The record of what was
 * synced is lowered before the first of them, and names are synced before an entry is acknowledged
 * in a new segment. So nothing that comes after the record was acknowledged if a segment before it
 * is missing, short, or there twice.
 */
final class InterruptedCut {
  private static final Logger LOG = LoggerFactory.getLogger(InterruptedCut.class);

  private final Path log;
  private final long synced;
  private final List<Path> segments;

  private InterruptedCut(Path log, long synced) throws IOException {
    this.log = requireNonNull(log, "log");
    this.synced = synced;
    this.segments =
        Snapshots.segments(log).stream()
            .sorted(Comparator.comparingLong(Snapshots::firstIndex))
            .toList();
  }

  /**
   * Finishes a cut of the log of a node that does not run. Leaves what may be damage to {@link
   * LogCheck}.
   *
   * @param synced the last entry that is known to have been synced; empty if that is not known
   * @return whether anything was changed
   */
  static boolean finish(Path log, OptionalLong synced) throws IOException {
    return synced.isPresent() && new InterruptedCut(log, synced.getAsLong()).finish();
  }

  private boolean finish() throws IOException {
    boolean changed = false;
    for (int i = 0; i < segments.size(); i++) {
      Path segment = segments.get(i);
      OptionalLong named = LogTail.lastByName(segment);
      LogTail.Entries entries = LogTail.read(segment, entry -> {});
      long first = Snapshots.firstIndex(segment);
      long found = first + entries.count() - 1;
      boolean isShort = found < named.orElse(found);
      if (!entries.areWhole() && (isShort || named.isEmpty())) {
        return changed;
      }
      long last = isShort ? found : named.orElse(found);
      boolean isLast = i + 1 == segments.size();
      boolean goesOn = !isLast && !isShort && Snapshots.firstIndex(segments.get(i + 1)) == last + 1;
      if (!goesOn && synced > last) {
        return changed;
      }
      if (!goesOn && !isLast) {
        removeFrom(i + 1, last);
        changed = true;
      }
      if (isShort || (goesOn && named.isEmpty())) {
        end(segment, first, last);
        changed = true;
      }
      if (!goesOn) {
        return changed;
      }
    }
    return changed;
  }

  /** Removes segments from the last one on, so that the next start can go on with that. */
  private void removeFrom(int from, long last) throws IOException {
    for (int i = segments.size() - 1; i >= from; i--) {
      LOG.warn(
          "{}: is removed, because the log was being cut after entry {}, and entry {} was the last"
              + " that was synced",
          segments.get(i),
          last,
          synced);
      Files.delete(segments.get(i));
      SyncedFiles.sync(log);
    }
  }

  /** Gives a segment the name that says where it ends. */
  private void end(Path segment, long first, long last) throws IOException {
    if (last < first) {
      LOG.warn("{}: is removed, because it has no entry", segment);
      Files.delete(segment);
      SyncedFiles.sync(log);
      return;
    }
    Path whole = log.resolve("log_" + first + "-" + last);
    LOG.warn("{}: is renamed to {}, because it ends with entry {}", segment, whole, last);
    SyncedFiles.move(segment, whole);
  }
}
