package dev.tollgate.node.audit;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/** A target in memory that a test can stop, or let fail. */
final class RecordingTarget implements AuditTarget {
  private final List<String> lines = new ArrayList<>();
  private final Semaphore open = new Semaphore(1);
  private volatile @Nullable IOException failure;
  private volatile boolean waits;
  Progress found = Progress.NONE;

  /** Lets every append wait until {@link #goOn}. */
  void stop() {
    open.acquireUninterruptibly();
  }

  void goOn() {
    open.release();
  }

  /** True while an append waits. */
  boolean waits() {
    return waits;
  }

  void failWith(@Nullable IOException next) {
    failure = next;
  }

  /** All lines so far. */
  synchronized List<String> lines() {
    return List.copyOf(lines);
  }

  /** The lines with this event. */
  List<String> lines(String event) {
    return lines().stream().filter(line -> line.contains("\"event\":\"" + event + "\"")).toList();
  }

  @Override
  public Progress open() {
    return found;
  }

  @Override
  public String append(String header, String added) throws IOException {
    waits = true;
    open.acquireUninterruptibly();
    open.release();
    waits = false;
    IOException next = failure;
    if (next != null) {
      throw next;
    }
    synchronized (this) {
      added.lines().forEach(lines::add);
      return String.valueOf(lines.size());
    }
  }

  @Override
  public void force() {}

  @Override
  public void close() {}
}
