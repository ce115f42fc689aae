package dev.tollgate.log.ratis;

import dev.tollgate.log.SyncedFiles;
import dev.tollgate.log.entry.CorruptLogException;
import dev.tollgate.log.peer.SealedEntries;
import dev.tollgate.log.snapshot.Snapshots;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.thirdparty.com.google.protobuf.WireFormat;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rule that a log has each entry once: segments follow each other and have the entries that
 * their names say, and the terms of entries do not fall. Ratis 3.3.0 (LogSegment.loadSegment) takes
 * a closed segment that lacks its last entries for one that ends earlier, deletes one without
 * entries, and looks at no terms.
 */
final class LogCheck {
  private static final int TERM = tag(LogEntryProto.TERM_FIELD_NUMBER);
  private static final int INDEX = tag(LogEntryProto.INDEX_FIELD_NUMBER);

  private static final Logger LOG = LoggerFactory.getLogger(LogCheck.class);

  /** The last entry of a snapshot, or null. */
  private final @Nullable TermIndex covered;

  private final SealedEntries sealed;
  private @Nullable TermIndex last;
  private boolean overruled;

  /** Where closed segments end that have more than their names say. */
  private final Map<Path, Long> longer = new LinkedHashMap<>();

  private LogCheck(@Nullable TermIndex covered, SealedEntries sealed) {
    this.covered = covered;
    this.sealed = sealed;
  }

  /**
   * What a log has.
   *
   * @param last the last entry; null if there is none
   * @param overruled true if the log has another entry than the one with which the snapshot ends
   */
  record Result(@Nullable TermIndex last, boolean overruled) {}

  /**
   * Reads the log of a node that does not run. Cuts off what closed segments have beyond their
   * names: Ratis cuts a segment, renames it and does not sync it, so a power cut may leave the
   * earlier content under the later name.
   *
   * @param covered the last entry of the newest snapshot; null if there is none
   * @param sealed checks that the node can open its entries
   * @throws CorruptLogException if an entry is damaged, missing, or in the wrong place
   */
  static Result run(Path log, @Nullable TermIndex covered, SealedEntries sealed)
      throws IOException {
    LogCheck check = new LogCheck(covered, sealed);
    List<Path> segments =
        Snapshots.segments(log).stream()
            .sorted(Comparator.comparingLong(Snapshots::firstIndex))
            .toList();
    for (Path segment : segments) {
      check.read(segment);
      if (LogTail.lastByName(segment).isEmpty()
          && !segment.equals(segments.get(segments.size() - 1))) {
        throw LogTail.damaged(segment, "it is not closed, and others follow");
      }
    }
    for (Map.Entry<Path, Long> segment : check.longer.entrySet()) {
      LOG.warn(
          "{}: what comes after byte {} was cut off before, and is cut off again",
          segment.getKey(),
          segment.getValue());
      SyncedFiles.truncate(segment.getKey(), segment.getValue());
    }
    return new Result(check.last, check.overruled);
  }

  private void read(Path segment) throws IOException {
    long first = Snapshots.firstIndex(segment);
    TermIndex before = last;
    if (before != null && before.getIndex() != first - 1) {
      throw LogTail.damaged(segment, "the file before it ends with entry " + before.getIndex());
    }
    OptionalLong end = LogTail.lastByName(segment);
    long[] endByName = {0};
    LogTail.Entries entries =
        LogTail.read(
            segment,
            bytes -> {
              TermIndex reached = last;
              if (end.isEmpty() || reached == null || reached.getIndex() < end.getAsLong()) {
                endByName[0] = bytes.limit() + (long) Integer.BYTES;
                ByteBuffer whole = bytes.duplicate();
                follow(segment, entryOf(bytes), first);
                sealed.found(segment, LogEntryProto.parseFrom(whole));
              }
            });
    long found = first + entries.count() - 1;
    if (end.isPresent()
        && found >= end.getAsLong()
        && (found > end.getAsLong() || !entries.areWhole())) {
      longer.put(segment, endByName[0]);
      return;
    }
    if (!entries.areWhole()) {
      throw LogTail.damaged(
          segment, "entry " + (found + 1) + " at byte " + entries.bytes() + " is not whole");
    }
    if (end.isPresent() && end.getAsLong() != found) {
      throw LogTail.damaged(segment, "it ends with entry " + found);
    }
  }

  private void follow(Path segment, TermIndex entry, long first) throws IOException {
    TermIndex before = last;
    long expected = before == null ? first : before.getIndex() + 1;
    if (entry.getIndex() != expected) {
      throw LogTail.damaged(
          segment, "entry " + entry.getIndex() + " is in the place of " + expected);
    }
    if (before != null && entry.getTerm() < before.getTerm()) {
      throw LogTail.damaged(
          segment,
          "entry "
              + expected
              + " is of term "
              + entry.getTerm()
              + ", and the one before of term "
              + before.getTerm());
    }
    last = entry;
    overruled |=
        covered != null
            && covered.getIndex() == entry.getIndex()
            && covered.getTerm() != entry.getTerm();
  }

  /** Reads the beginning of an entry: Ratis writes its term and its index first. */
  private static TermIndex entryOf(ByteBuffer bytes) {
    long term = next(bytes, TERM);
    return TermIndex.valueOf(term, next(bytes, INDEX));
  }

  /** Reads a number if it comes next; returns 0 if it does not, since zeros are left out. */
  private static long next(ByteBuffer bytes, int tag) {
    if (!bytes.hasRemaining() || bytes.get(bytes.position()) != tag) {
      return 0;
    }
    bytes.get();
    long value = 0;
    for (int shift = 0; shift < Long.SIZE && bytes.hasRemaining(); shift += 7) {
      byte part = bytes.get();
      value |= (long) (part & 0x7f) << shift;
      if (part >= 0) {
        break;
      }
    }
    return value;
  }

  private static int tag(int field) {
    return field << 3 | WireFormat.WIRETYPE_VARINT;
  }
}
