package dev.tollgate.log.peer;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.snapshot.Snapshots;
import dev.tollgate.seal.AlteredException;
import dev.tollgate.seal.DirectoryKeys;
import dev.tollgate.seal.EntrySeal;
import dev.tollgate.seal.NotEncryptedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;

/**
 * Seals the payload of entries where they enter the log of this node, and opens it where they leave
 * (ADR 0124): in the log, and in what Ratis keeps of it in memory, entries are sealed with the keys
 * of this node; on their way to other nodes, and where they are applied, they are not. Terms,
 * indexes, members and the ids of requests stay readable. Thread-safe.
 */
public final class SealedEntries {
  /** Stands for entries that are not sealed; no key has such a name. */
  public static final String CLEAR = "(clear)";

  private final DirectoryKeys keys;
  private final Path log;

  /** The last entry for each key, as far as it was seen; it may have been cut off since. */
  private final ConcurrentMap<String, Long> lastByKey = new ConcurrentHashMap<>();

  /**
   * @param log where the segments are, for messages
   */
  public SealedEntries(DirectoryKeys keys, Path log) {
    this.keys = requireNonNull(keys, "keys");
    this.log = requireNonNull(log, "log");
  }

  /** The keys of the directory of this node. */
  public DirectoryKeys keys() {
    return keys;
  }

  /** Returns the entry as this node keeps it. */
  public LogEntryProto seal(LogEntryProto entry) {
    if (!keys.isOn() || !entry.hasStateMachineLogEntry()) {
      return entry;
    }
    EntrySeal.Sealed sealed =
        keys.sealEntry(entry.getTerm(), entry.getIndex(), payload(entry).toByteArray());
    note(sealed.keyId(), entry.getIndex());
    return with(entry, sealed.bytes());
  }

  /** Returns a request with its entries as this node keeps them. */
  public AppendEntriesRequestProto seal(AppendEntriesRequestProto request) {
    if (!keys.isOn()) {
      return request;
    }
    AppendEntriesRequestProto.Builder sealed = request.toBuilder();
    for (int i = 0; i < request.getEntriesCount(); i++) {
      sealed.setEntries(i, seal(request.getEntries(i)));
    }
    return sealed.build();
  }

  /**
   * Returns a request with its entries as they were before this node sealed them.
   *
   * @throws IOException if one cannot be opened; the message says what to do
   */
  public AppendEntriesRequestProto open(AppendEntriesRequestProto request) throws IOException {
    AppendEntriesRequestProto.Builder opened = null;
    for (int i = 0; i < request.getEntriesCount(); i++) {
      LogEntryProto entry = request.getEntries(i);
      if (keys.isOn() && entry.hasStateMachineLogEntry()) {
        opened = opened == null ? request.toBuilder() : opened;
        opened.setEntries(i, with(entry, payloadOf(entry)));
      }
    }
    return opened == null ? request : opened.build();
  }

  /**
   * Returns the payload of an entry of the log as it was before this node sealed it.
   *
   * @throws IOException if it cannot be opened; the message says what to do
   */
  public byte[] payloadOf(LogEntryProto entry) throws IOException {
    if (!keys.isOn()) {
      return proposedPayloadOf(entry);
    }
    if (!isSealed(entry)) {
      throw notEncrypted(segmentOf(entry.getIndex()), entry);
    }
    try {
      return keys.openEntry(entry.getTerm(), entry.getIndex(), payload(entry).toByteArray());
    } catch (AlteredException e) {
      throw new IOException(
          segmentOf(entry.getIndex())
              + ": "
              + e.getMessage()
              + ". Check the disk, and then seed the node anew from the leader, with `tollgate"
              + " reseed`",
          e);
    }
  }

  /** Returns the payload of an entry that this process itself has proposed, and not yet sealed. */
  public static byte[] proposedPayloadOf(LogEntryProto entry) {
    return payload(entry).toByteArray();
  }

  /**
   * Checks, at a start, that this node can open an entry of its log, and remembers the key. The
   * entry itself is not opened: that is done when it is applied or sent.
   *
   * @param segment where the entry is
   * @throws IOException if this node lacks the key, or if it has keys and the entry is not sealed
   */
  public void found(Path segment, LogEntryProto entry) throws IOException {
    if (!entry.hasStateMachineLogEntry()) {
      return;
    }
    if (isSealed(entry)) {
      note(
          keys.requireKeyOfEntry(entry.getIndex(), payload(entry).asReadOnlyByteBuffer()),
          entry.getIndex());
    } else if (keys.isOn()) {
      throw notEncrypted(segment, entry);
    }
  }

  private static NotEncryptedException notEncrypted(Path segment, LogEntryProto entry) {
    return new NotEncryptedException("entry " + entry.getIndex() + " of the log in " + segment);
  }

  /** Returns with which key an entry is sealed, or {@link #CLEAR}; empty if it has no payload. */
  public static Optional<String> keyOf(LogEntryProto entry) throws IOException {
    if (!entry.hasStateMachineLogEntry()) {
      return Optional.empty();
    }
    return Optional.of(
        isSealed(entry)
            ? EntrySeal.keyOf(entry.getIndex(), payload(entry).asReadOnlyByteBuffer())
            : CLEAR);
  }

  /** True if the payload of an entry is sealed. */
  public static boolean isSealed(LogEntryProto entry) {
    ByteString payload = payload(entry);
    return !payload.isEmpty()
        && EntrySeal.isSealed(ByteBuffer.wrap(new byte[] {payload.byteAt(0)}));
  }

  /**
   * Returns the keys with which the log may be sealed, and for each the last entry.
   *
   * @param first the first entry of the log
   */
  public SortedMap<String, Long> inUse(long first) {
    SortedMap<String, Long> used = new TreeMap<>(lastByKey);
    used.values().removeIf(last -> last < first);
    return used;
  }

  private void note(String keyId, long index) {
    Long last = lastByKey.get(keyId);
    if (last == null || last < index) {
      lastByKey.merge(keyId, index, Math::max);
    }
  }

  private static ByteString payload(LogEntryProto entry) {
    return entry.getStateMachineLogEntry().getLogData();
  }

  private static LogEntryProto with(LogEntryProto entry, byte[] payload) {
    return entry.toBuilder()
        .setStateMachineLogEntry(
            entry.getStateMachineLogEntry().toBuilder()
                .setLogData(UnsafeByteOperations.unsafeWrap(payload)))
        .build();
  }

  private Path segmentOf(long index) throws IOException {
    return Files.isDirectory(log)
        ? Snapshots.segments(log).stream()
            .filter(segment -> Snapshots.firstIndex(segment) <= index)
            .max(Comparator.comparingLong(Snapshots::firstIndex))
            .orElse(log)
        : log;
  }
}
