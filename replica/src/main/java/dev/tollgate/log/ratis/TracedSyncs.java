package dev.tollgate.log.ratis;

import static dev.tollgate.log.ratis.RatisInternals.field;
import static java.util.Objects.requireNonNull;

import dev.tollgate.log.trace.PromiseTrace;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.channels.FileChannel;
import org.apache.ratis.server.raftlog.RaftLog;
import org.jspecify.annotations.Nullable;

/**
 * Writes a line once a sync of the log has succeeded. Ratis 3.3.0 says before a sync how far it
 * will go, and tells nobody of its end. What it believes to be synced is not evidence. So this
 * class puts a channel of its own between Ratis and the file, in nodes whose promises are written
 * down and in no others.
 */
final class TracedSyncs {
  private final PromiseTrace trace;
  private @Nullable LogWriter writer;
  private @Nullable Object segment;
  private volatile long index;

  TracedSyncs(PromiseTrace trace) {
    this.trace = requireNonNull(trace, "trace");
  }

  /** Called by the thread that writes the log, before it syncs the log up to an entry. */
  void before(RaftLog log, long last) throws IOException {
    index = last;
    try {
      LogWriter found = writer;
      if (found == null) {
        found = LogWriter.of(log);
        writer = found;
      }
      Object open = requireNonNull(found.segment(), "a segment is open while it is synced");
      if (open != segment) {
        watch(open);
        segment = open;
      }
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(
          "this Ratis writes its log otherwise than the one that Tollgate was written for", e);
    }
  }

  private void watch(Object open) throws ReflectiveOperationException {
    Object buffered = requireNonNull(field(open.getClass(), "out").get(open));
    Field channel = field(buffered.getClass(), "fileChannel");
    FileChannel file = (FileChannel) requireNonNull(channel.get(buffered));
    channel.set(buffered, new TracedChannel(file, this::began, trace::synced));
  }

  private long began() {
    return index;
  }
}
