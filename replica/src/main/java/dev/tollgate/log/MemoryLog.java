package dev.tollgate.log;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.Command;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/**
 * A log of one node that keeps nothing: for throw-away databases and for tests. An entry is applied
 * by the thread that appends it, one at a time.
 */
public final class MemoryLog implements ReplicatedLog {
  private static final long TERM = 1;

  private final String nodeId;
  private final LogConsumer consumer;
  private long lastIndex;
  private boolean running;

  public MemoryLog(String nodeId, LogConsumer consumer) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.consumer = requireNonNull(consumer, "consumer");
  }

  @Override
  public synchronized void start() {
    running = true;
    consumer.startedLeading(TERM);
  }

  @Override
  public synchronized CompletableFuture<Void> append(Entry entry) {
    if (!running) {
      return CompletableFuture.failedFuture(new IllegalStateException("the log is closed"));
    }
    try {
      consumer.apply(++lastIndex, entry);
      return CompletableFuture.completedFuture(null);
    } catch (RuntimeException e) {
      running = false;
      consumer.failed(e);
      return CompletableFuture.failedFuture(e);
    }
  }

  @Override
  public CompletableFuture<Void> forward(Command command) {
    return append(Entry.untimed(command));
  }

  @Override
  public synchronized CompletableFuture<OptionalLong> readIndex() {
    return CompletableFuture.completedFuture(
        running ? OptionalLong.of(lastIndex) : OptionalLong.empty());
  }

  @Override
  public synchronized long appliedIndex() {
    return lastIndex;
  }

  @Override
  public synchronized LogStatus status() {
    return new LogStatus(
        nodeId,
        running ? LogStatus.Role.LEADER : LogStatus.Role.STOPPED,
        running ? nodeId : null,
        TERM,
        lastIndex,
        lastIndex,
        List.of(new LogStatus.Member(nodeId, "", lastIndex)));
  }

  @Override
  public String leaderId() {
    return nodeId;
  }

  @Override
  public Membership membership() {
    return Membership.fixed(
        "node " + nodeId + " lives in the memory of one process and cannot have others beside it");
  }

  @Override
  public boolean isAlone() {
    return true;
  }

  @Override
  public SnapshotStore snapshots() {
    return SnapshotStore.none(nodeId);
  }

  @Override
  public synchronized void close() {
    running = false;
  }
}
