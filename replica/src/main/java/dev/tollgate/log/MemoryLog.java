package dev.tollgate.log;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Command;
import dev.tollgate.log.entry.EntryCodec;
import dev.tollgate.log.entry.ProposedEntry;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * A log of one node that keeps nothing, for throwaway databases and tests. A separate thread
 * decodes entries from their bytes and applies them one at a time.
 */
public final class MemoryLog implements ReplicatedLog {
  private static final long TERM = 1;

  private final String nodeId;
  private final LogConsumer consumer;
  private final Executor applier;
  private final @Nullable ApplyThread applyThread;
  private volatile long lastIndex;
  private volatile boolean running;

  public MemoryLog(String nodeId, LogConsumer consumer) {
    this(nodeId, consumer, new ApplyThread(nodeId));
  }

  private MemoryLog(String nodeId, LogConsumer consumer, ApplyThread applyThread) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.consumer = requireNonNull(consumer, "consumer");
    this.applyThread = applyThread;
    applier = applyThread;
  }

  /**
   * Creates a log whose entries another thread applies.
   *
   * @param applier runs one task after the other
   */
  public MemoryLog(String nodeId, LogConsumer consumer, Executor applier) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.consumer = requireNonNull(consumer, "consumer");
    this.applier = requireNonNull(applier, "applier");
    applyThread = null;
  }

  @Override
  public void start() {
    running = true;
    consumer.startedLeading(TERM);
  }

  @Override
  public CompletableFuture<Void> append(ProposedEntry entry) {
    CompletableFuture<Void> applied = new CompletableFuture<>();
    try {
      applier.execute(() -> apply(entry, applied));
    } catch (RejectedExecutionException e) {
      applied.completeExceptionally(closed());
    }
    return applied;
  }

  private void apply(ProposedEntry entry, CompletableFuture<Void> applied) {
    if (!running) {
      applied.completeExceptionally(closed());
      return;
    }
    try {
      long index = lastIndex + 1;
      consumer.apply(index, EntryCodec.decode(entry.bytes(), entry.proposals()));
      lastIndex = index;
    } catch (RuntimeException | Error e) {
      running = false;
      consumer.failed(e);
      applied.completeExceptionally(e);
      return;
    }
    applied.complete(null);
  }

  private static IllegalStateException closed() {
    return new IllegalStateException("the log is closed");
  }

  @Override
  public CompletableFuture<Void> forward(Command command) {
    return append(ProposedEntry.untimed(command));
  }

  @Override
  public CompletableFuture<OptionalLong> readIndex() {
    return CompletableFuture.completedFuture(
        running ? OptionalLong.of(lastIndex) : OptionalLong.empty());
  }

  @Override
  public long appliedIndex() {
    return lastIndex;
  }

  @Override
  public LogStatus status() {
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
  public long term() {
    return TERM;
  }

  @Override
  public @Nullable TermLeader servingLeader() {
    return running ? new TermLeader(TERM, nodeId) : null;
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
  public void close() {
    running = false;
    if (applyThread != null) {
      applyThread.close();
    }
  }
}
