package dev.tollgate.log.trace;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

import dev.tollgate.log.trace.Promise.Kind;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Writes each promise of a node to a file before the promise leaves, for {@link PromiseChecker}.
 * The file outlives the process, not the machine. A promise that cannot be written is not made: the
 * methods throw an {@link UncheckedIOException}. Thread-safe.
 *
 * <p>{@link #NONE} writes nothing: its methods return after a comparison. Callers ask {@link #isOn}
 * before {@link #leads}, {@link #follows} and {@link #committed}, which take a lock.
 */
public final class PromiseTrace implements AutoCloseable {
  /** Writes nothing. */
  public static final PromiseTrace NONE = new PromiseTrace("", "", null);

  private static final long NO_INDEX = -1;

  private final String nodeId;
  private final String incarnation;

  /** No channel: an interrupt of the thread that writes would close it. */
  private final @Nullable OutputStream out;

  private final AtomicLong sequence = new AtomicLong();
  private boolean closed;
  private long ledTerm = NO_INDEX;
  private long committedTerm = NO_INDEX;
  private long committedIndex = NO_INDEX;

  private PromiseTrace(String nodeId, String incarnation, @Nullable OutputStream out) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.incarnation = requireNonNull(incarnation, "incarnation");
    this.out = out;
  }

  /**
   * Appends to a file, or returns {@link #NONE}.
   *
   * @param incarnation of the directory of the node
   * @param file must not be in the directory of the node; null for none
   */
  @SuppressWarnings("resource") // the result has it
  public static PromiseTrace open(String nodeId, Object incarnation, @Nullable Path file)
      throws IOException {
    if (file == null) {
      return NONE;
    }
    boolean torn = Files.exists(file) && !endsWithLine(file);
    OutputStream out = new FileOutputStream(file.toFile(), /* append= */ true);
    if (torn) {
      out.write('\n');
    }
    return new PromiseTrace(nodeId, incarnation.toString(), out);
  }

  private static boolean endsWithLine(Path file) throws IOException {
    try (RandomAccessFile in = new RandomAccessFile(file.toFile(), "r")) {
      if (in.length() == 0) {
        return true;
      }
      in.seek(in.length() - 1);
      return in.read() == '\n';
    }
  }

  /** False if nothing is written, so that nothing need be found out. */
  public boolean isOn() {
    return out != null;
  }

  /** Reserves the place of an event that is written later. */
  public long mark() {
    return out == null ? 0 : sequence.incrementAndGet();
  }

  /** The first line of a process. */
  public void restarted(long term, String vote, long last, long synced) {
    write(
        mark(),
        Kind.RESTARTED,
        term,
        last,
        synced,
        (vote.isEmpty() ? Promise.NOTHING : vote) + Promise.OF + incarnation);
  }

  /** The file with the term and the vote is synced. */
  public void kept(long term, Object vote) {
    write(mark(), Kind.KEPT, term, NO_INDEX, NO_INDEX, vote);
  }

  /** A vote is about to leave. */
  public void voted(long term, String candidate) {
    write(mark(), Kind.VOTED, term, NO_INDEX, NO_INDEX, candidate);
  }

  /** A request for votes is about to leave. */
  public void stands(long term) {
    write(mark(), Kind.STANDS, term, NO_INDEX, NO_INDEX, Promise.NOTHING);
  }

  /**
   * Entries are in the log.
   *
   * @param mark the place of the acknowledgement that follows
   * @param term of the entries
   */
  public void appended(long mark, long term, long first, long last) {
    write(mark, Kind.APPENDED, term, last, first, Promise.NOTHING);
  }

  /**
   * An acknowledgement is about to leave.
   *
   * @param mark a place before the last look at the term of this node
   * @param term of the leader
   */
  public void acknowledged(long mark, long term, long last, String leader) {
    write(mark, Kind.ACKNOWLEDGED, term, last, NO_INDEX, leader);
  }

  /**
   * The leader is about to hear that an entry is missing.
   *
   * @param mark a place before the end of the log was read
   * @param term of the leader
   */
  public void lacks(long mark, long term, long last, String leader) {
    write(mark(), Kind.LACKS, term, last, mark, leader);
  }

  /** A sync of the log has succeeded. */
  public void synced(long last) {
    write(mark(), Kind.SYNCED, NO_INDEX, last, NO_INDEX, Promise.NOTHING);
  }

  /** The log is cut. */
  public void cut(long term, long first) {
    write(mark(), Kind.CUT, term, first, NO_INDEX, Promise.NOTHING);
  }

  /**
   * The leader is about to hear that its snapshot is in place.
   *
   * @param term of the last entry in it
   */
  public void replaced(long term, long last) {
    write(mark(), Kind.REPLACED, term, last, NO_INDEX, Promise.NOTHING);
  }

  /** A leader is about to count an acknowledgement. */
  public void counted(long term, long last, Object follower) {
    write(mark(), Kind.COUNTED, term, last, NO_INDEX, follower);
  }

  /**
   * This node leads, and has told nobody yet.
   *
   * @param last the last entry in its log
   * @param former the members before a change that is not complete
   */
  public synchronized <T> void leads(
      long term, long last, Collection<T> members, Collection<T> former, Function<T, ?> name) {
    ledTerm = term;
    write(mark(), Kind.LEADS, term, last, NO_INDEX, names(members, former, name));
  }

  /**
   * This node leads no longer.
   *
   * @param last the last entry in its log
   */
  public synchronized void follows(long last) {
    write(mark(), Kind.FOLLOWS, ledTerm, last, NO_INDEX, Promise.NOTHING);
  }

  /**
   * A leader is about to tell others what is committed. Writes a line if that is more than before.
   *
   * @param former the members before a change that is not complete
   */
  public synchronized <T> void committed(
      long term, long index, Collection<T> members, Collection<T> former, Function<T, ?> name) {
    if (term > committedTerm || (term == committedTerm && index > committedIndex)) {
      committedTerm = term;
      committedIndex = index;
      write(mark(), Kind.COMMITTED, term, index, NO_INDEX, names(members, former, name));
    }
  }

  private static <T> String names(
      Collection<T> members, Collection<T> former, Function<T, ?> name) {
    String now = members.stream().map(name).map(String::valueOf).collect(joining(","));
    return former.isEmpty()
        ? now
        : now + "/" + former.stream().map(name).map(String::valueOf).collect(joining(","));
  }

  private void write(long mark, Kind kind, long term, long index, long other, Object detail) {
    if (out != null) {
      writeLine(out, mark, kind, term, index, other, detail.toString());
    }
  }

  private synchronized void writeLine(
      OutputStream file, long mark, Kind kind, long term, long index, long other, String detail) {
    if (closed) {
      return;
    }
    Promise promise =
        new Promise(
            mark,
            System.nanoTime(),
            Instant.now().toString(),
            nodeId,
            kind,
            term,
            index,
            other,
            detail.isEmpty() ? Promise.NOTHING : detail);
    try {
      file.write((promise.toLine() + "\n").getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException("a promise is not made that could not be traced", e);
    }
  }

  /** Writes nothing more: threads of a node that is closed may come late. */
  @Override
  public synchronized void close() {
    if (out == null || closed) {
      return;
    }
    closed = true;
    try {
      out.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
