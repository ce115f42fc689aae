package dev.tollgate.cluster;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * When the candidates of a process believed to lead, in a file that another process reads meanwhile
 * and after the process was killed. Times are those of {@link System#nanoTime}, which on Linux is
 * CLOCK_MONOTONIC: one clock for all processes of the machine.
 */
final class Beliefs {
  private static final int MAX_TERMS = 10_000;
  private static final int WORDS = 3;
  private static final VarHandle WORD =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  /**
   * One term.
   *
   * @param firstNanos a moment before the candidate first found that it leads; 0 if it never did
   * @param lastNanos a moment before it last found that
   */
  record Belief(long token, long firstNanos, long lastNanos) {
    /** How long this term was led while a later one was; negative if it had ended before. */
    long overlapNanos(Belief later) {
      return lastNanos - later.firstNanos;
    }
  }

  private final ByteBuffer file;

  /**
   * @param path of a file, which is made if there is none
   */
  Beliefs(Path path) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      file = channel.map(FileChannel.MapMode.READ_WRITE, 0, (1L + MAX_TERMS * WORDS) * Long.BYTES);
    }
  }

  /** Begins a term; returns its number for {@link #believed}. */
  synchronized int begin(long token) {
    int term = (int) get(0);
    if (term == MAX_TERMS) {
      throw new IllegalStateException("more than " + MAX_TERMS + " terms");
    }
    set(word(term), token);
    set(0, term + 1L);
    return term;
  }

  /** Records that the candidate of a term leads, as it found after this moment. */
  void believed(int term, long nanos) {
    if (get(word(term) + 1) == 0) {
      set(word(term) + 1, nanos);
    }
    set(word(term) + 2, nanos);
  }

  /** The terms in which a candidate found that it leads. */
  List<Belief> all() {
    List<Belief> all = new ArrayList<>();
    for (int term = 0; term < get(0); term++) {
      int word = word(term);
      // the time that is written last is read first
      long last = get(word + 2);
      if (last != 0) {
        all.add(new Belief(get(word), get(word + 1), last));
      }
    }
    return all;
  }

  private static int word(int term) {
    return 1 + term * WORDS;
  }

  private long get(int word) {
    return (long) WORD.getAcquire(file, word * Long.BYTES);
  }

  private void set(int word, long value) {
    WORD.setRelease(file, word * Long.BYTES, value);
  }
}
