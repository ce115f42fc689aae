package dev.tollgate.log;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.log.entry.Entry;
import dev.tollgate.log.entry.Proposal;
import dev.tollgate.snapshot.SnapshotReader;
import dev.tollgate.snapshot.StateCopy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Remembers what it was told, and answers every proposal "done". */
public final class RecordingConsumer implements LogConsumer {
  public final List<Command> commands = new CopyOnWriteArrayList<>();
  public final List<Long> indexes = new CopyOnWriteArrayList<>();
  final List<Integer> sizes = new CopyOnWriteArrayList<>();
  public final List<Throwable> failures = new CopyOnWriteArrayList<>();
  public final AtomicBoolean leading = new AtomicBoolean();

  /** A RuntimeException or an Error that an entry meets, the next or one under way, or null. */
  public volatile @Nullable Throwable failNext;

  /** How deep each entry recurses. */
  public volatile int depth;

  public final Queue<StateCopy> copies = new ConcurrentLinkedQueue<>();

  /** How many snapshots it was given; it reads none of them. */
  public final AtomicInteger restored = new AtomicInteger();

  /** Why it waited for the state of the leader. */
  public final List<Throwable> differences = new CopyOnWriteArrayList<>();

  /** How many of the next snapshots it cannot restore. */
  public final AtomicInteger unrestorable = new AtomicInteger();

  /** Why it cannot read snapshots back, or null. */
  public volatile @Nullable RuntimeException unreadable;

  /** What a restore waits for. */
  public volatile CountDownLatch holdRestore = new CountDownLatch(0);

  /** What each entry waits for before it is applied. */
  public volatile CountDownLatch holdApply = new CountDownLatch(0);

  /** What its state says of the cluster. */
  public volatile ClusterIdentity identity = ClusterIdentity.NONE;

  /** What is done when its identity is asked for, first after the files of a node were checked. */
  public volatile Runnable whenIdentified = () -> {};

  @Override
  public ClusterIdentity identity() {
    whenIdentified.run();
    return identity;
  }

  @Override
  public void apply(long logIndex, Entry entry) {
    await(holdApply);
    meetFault();
    assertEquals(depth, recurse(depth));
    indexes.add(logIndex);
    sizes.add(entry.commands().size());
    commands.addAll(entry.commands());
    List<Proposal> proposals = new ArrayList<>(entry.proposals());
    proposals.forEach(proposal -> proposal.applied(new Outcome.Done()));
    meetFault();
  }

  private void meetFault() {
    Throwable fault = failNext;
    if (fault instanceof Error error) {
      throw error;
    }
    if (fault instanceof RuntimeException exception) {
      throw exception;
    }
  }

  private static int recurse(int levels) {
    return levels == 0 ? 0 : 1 + recurse(levels - 1);
  }

  @Override
  public @Nullable StateCopy beginCopy(boolean insistent) {
    return copies.poll();
  }

  @Override
  public void snapshotNeedsGap(boolean needed) {}

  @Override
  public void awaitsState(StateDiffersException why) {
    differences.add(why);
  }

  @Override
  public void restore(SnapshotReader snapshot) {
    restored.incrementAndGet();
    await(holdRestore);
    if (unrestorable.getAndDecrement() > 0) {
      throw new IllegalStateException("table T cannot be made again");
    }
  }

  @Override
  public void tryOut(SnapshotReader snapshot) throws IOException {
    RuntimeException fault = unreadable;
    if (fault != null) {
      throw fault;
    }
    LogConsumer.super.tryOut(snapshot);
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void startedLeading(long term) {
    leading.set(true);
  }

  @Override
  public void stoppedLeading() {
    leading.set(false);
  }

  @Override
  public void failed(Throwable cause) {
    failures.add(cause);
  }

  /** Completes with the outcome, or exceptionally if nobody knows it. */
  public static Proposal.Listener listener(CompletableFuture<Outcome> outcome) {
    return new Proposal.Listener() {
      @Override
      public void applied(Outcome what) {
        outcome.complete(what);
      }

      @Override
      public void unknown() {
        outcome.completeExceptionally(new IOException("unknown"));
      }
    };
  }
}
