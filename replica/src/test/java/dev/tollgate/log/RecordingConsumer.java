package dev.tollgate.log;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tollgate.core.Command;
import dev.tollgate.core.Outcome;
import dev.tollgate.snapshot.SnapshotReader;
import dev.tollgate.snapshot.StateCopy;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** Remembers what it was told, and answers every proposal "done". */
final class RecordingConsumer implements LogConsumer {
  final List<Command> commands = new CopyOnWriteArrayList<>();
  final List<Long> indexes = new CopyOnWriteArrayList<>();
  final List<Integer> sizes = new CopyOnWriteArrayList<>();
  final List<Throwable> failures = new CopyOnWriteArrayList<>();
  final AtomicBoolean leading = new AtomicBoolean();

  /** A RuntimeException or an Error that the next entry meets, or null. */
  volatile @Nullable Throwable failNext;

  /** How deep each entry recurses. */
  volatile int depth;

  final Queue<StateCopy> copies = new ConcurrentLinkedQueue<>();

  @Override
  public void apply(long logIndex, Entry entry) {
    Throwable fault = failNext;
    if (fault instanceof Error error) {
      throw error;
    }
    if (fault instanceof RuntimeException exception) {
      throw exception;
    }
    assertEquals(depth, recurse(depth));
    indexes.add(logIndex);
    sizes.add(entry.commands().size());
    commands.addAll(entry.commands());
    List<Proposal> proposals = new ArrayList<>(entry.proposals());
    proposals.forEach(proposal -> proposal.applied(new Outcome.Done()));
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
  public void restore(SnapshotReader snapshot) {
    throw new UnsupportedOperationException();
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
}
