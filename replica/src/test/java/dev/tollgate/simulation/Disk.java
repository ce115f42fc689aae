package dev.tollgate.simulation;

import dev.tollgate.core.command.Payload;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a node finds again when it starts. Entries that were not synced may be gone by then. */
final class Disk {
  /**
   * An entry.
   *
   * @param content empty for the entry by which a new leader begins
   */
  record LogEntry(long term, Payload content) {
    byte[] bytes() {
      return content.bytes();
    }
  }

  /** A snapshot of all up to an entry. */
  record Snapshot(long index, long term, Payload content) {
    byte[] bytes() {
      return content.bytes();
    }
  }

  long term;
  @Nullable String votedFor;
  @Nullable Snapshot snapshot;

  /** Up to here entries survive a crash. */
  long synced;

  private long firstIndex = 1;
  private long termBeforeFirst;
  private final List<LogEntry> entries = new ArrayList<>();

  long firstIndex() {
    return firstIndex;
  }

  long lastIndex() {
    return firstIndex + entries.size() - 1;
  }

  boolean has(long index) {
    return index >= firstIndex && index <= lastIndex();
  }

  LogEntry entry(long index) {
    return entries.get((int) (index - firstIndex));
  }

  /** The term of the entry of this index, or -1 if it is not known here. */
  long termAt(long index) {
    if (index == firstIndex - 1) {
      return termBeforeFirst;
    }
    return has(index) ? entry(index).term() : -1;
  }

  void append(LogEntry entry) {
    entries.add(entry);
  }

  /** Drops everything from this index on. */
  void truncateFrom(long index) {
    entries.subList((int) (index - firstIndex), entries.size()).clear();
    synced = Math.min(synced, lastIndex());
  }

  /** Drops everything up to this index. */
  void cutUpTo(long index) {
    if (index >= firstIndex) {
      termBeforeFirst = termAt(index);
      entries.subList(0, (int) (index - firstIndex) + 1).clear();
      firstIndex = index + 1;
    }
  }

  /** Begins anew after a snapshot that came from the leader. */
  void replaceBy(Snapshot fresh) {
    snapshot = fresh;
    entries.clear();
    firstIndex = fresh.index() + 1;
    termBeforeFirst = fresh.term();
    synced = fresh.index();
  }

  /** Entries from this index on, a few at a time. */
  List<LogEntry> from(long index, int most) {
    int first = (int) (index - firstIndex);
    return List.copyOf(entries.subList(first, Math.min(entries.size(), first + most)));
  }
}
