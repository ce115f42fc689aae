package dev.tollgate.log;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.Tally;
import dev.tollgate.core.command.AppliedDigest;
import dev.tollgate.core.command.Command;
import dev.tollgate.log.entry.Callbacks;
import dev.tollgate.log.entry.EntryCodec;
import dev.tollgate.log.entry.LoggedError;
import dev.tollgate.log.entry.Proposal;
import dev.tollgate.log.entry.ProposedEntry;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Group commit: while one entry is in flight, the commands that arrive gather for the next entry.
 * One entry in flight at a time gives ten times the throughput of an entry per command, and more
 * entries in flight give less (docs/adr/0002).
 *
 * <p>This class has no thread. The caller that submits while nothing is in flight proposes the
 * entry; the thread that learns that an entry is done proposes the next. Thread-safe.
 */
public final class CommandPipeline {
  private static final Logger LOG = LoggerFactory.getLogger(CommandPipeline.class);

  /** Commands that may wait for the next entry; further commands are refused. */
  public static final int MAX_QUEUED = 200_000;

  /** Bytes of the commands that may wait, 64 MiB; large commands beyond that are refused. */
  public static final long MAX_QUEUED_BYTES = 64L << 20;

  /** A command with fewer bytes is refused only for the number of waiting commands. */
  static final int SMALL_COMMAND_BYTES = 1 << 10;

  /**
   * With this many commands in the entry in flight, the next entry comes anyway, and soon. When
   * reads among 16 writers asked the other nodes instead, that cost four tenths of the throughput
   * of both.
   */
  static final int BUSY_COMMANDS = 4;

  private static final long[] COMMIT_BOUNDS = {
    500, 1_000, 2_000, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000, 5_000_000
  };

  /** An entry with this stamp takes the time of the entry before. */
  private static final long NO_TIME = 0;

  private static final String WHAT = "the command pipeline";

  private final ReplicatedLog log;
  private final LogClock clock;
  private final int maxEntryBytes;
  private final Supervision supervision;
  private final Function<Command, @Nullable String> admission;
  private final Supplier<AppliedDigest> applied;

  private final ReentrantLock mutex = new ReentrantLock();
  private final Deque<Proposal> queue = new ArrayDeque<>();
  private List<Barrier> barriers = new ArrayList<>();
  private List<Read> reads = new ArrayList<>();
  private long queuedBytes;
  private boolean inFlight;

  /** True if the last entry could not even be proposed, for an unexpected reason. */
  private boolean suspicious;

  private int commandsInFlight;
  private long sentDigest;

  private final Tally commits = new Tally(COMMIT_BOUNDS);
  private long takenOffNanos;
  private long refused;
  private long unapplied;

  /** Is told whether leadership is proven. Called once; must not block. */
  public interface Barrier {
    /** This node led after the proof was requested. */
    void passed();

    /** This node does not lead, or could not prove it. */
    void failed();
  }

  private static final Barrier NOBODY =
      new Barrier() {
        @Override
        public void passed() {}

        @Override
        public void failed() {}
      };

  /** A barrier that has its proof, and waits until this node has applied an entry. */
  private record Read(long index, Barrier barrier) {}

  /** An entry in flight, and the barriers that wait for it. */
  private record Flight(List<Proposal> proposals, List<Barrier> barriers) {}

  /**
   * @param clock stamps entries
   * @param maxEntryBytes an entry ends with the command that reaches this size
   * @param admission says why a command must not be in the log yet, or null; must not wait
   * @param applied the digest of what this node has applied; must not wait
   */
  public CommandPipeline(
      ReplicatedLog log,
      LogClock clock,
      int maxEntryBytes,
      Supervision supervision,
      Function<Command, @Nullable String> admission,
      Supplier<AppliedDigest> applied) {
    this.log = requireNonNull(log, "log");
    this.clock = requireNonNull(clock, "clock");
    this.maxEntryBytes = maxEntryBytes;
    this.supervision = requireNonNull(supervision, "supervision");
    this.admission = requireNonNull(admission, "admission");
    this.applied = requireNonNull(applied, "applied");
  }

  /** Proposes a command with the next entry, if the cluster's feature level allows it. */
  public void submit(Command command, Proposal.Listener listener) {
    Proposal proposal = new Proposal(EntryCodec.encode(command), listener);
    String notYet = admission.apply(command);
    if (notYet != null) {
      proposal.notYet(notYet);
      return;
    }
    int bytes = proposal.encoded().length;
    String full;
    Flight next = null;
    mutex.lock();
    try {
      full = full(bytes);
      if (full != null) {
        refused++;
      } else {
        queue.addLast(proposal);
        queuedBytes += bytes;
        next = takeOff();
      }
    } finally {
      mutex.unlock();
    }
    if (full != null) {
      proposal.refused(full);
    }
    fly(next);
  }

  /** Returns why a command of this size may not wait, or null. */
  private @Nullable String full(int bytes) {
    boolean tooMany = queue.size() >= MAX_QUEUED;
    boolean tooLarge = bytes >= SMALL_COMMAND_BYTES && queuedBytes + bytes > MAX_QUEUED_BYTES;
    if (!tooMany && !tooLarge) {
      return null;
    }
    return queue.size()
        + " commands of "
        + queuedBytes
        + " bytes wait for the next log entry, and at most "
        + (tooMany ? MAX_QUEUED + " may" : MAX_QUEUED_BYTES + " bytes may")
        + ": nothing was done; try again later";
  }

  /**
   * Requests proof that this node leads, and has applied all that was acknowledged before.
   *
   * <p>If commands wait for an entry, or will, that entry is the proof. Otherwise the other nodes
   * are asked ({@link ReplicatedLog#readIndex}), and an entry is made only if they prove nothing.
   */
  public void barrier(Barrier barrier) {
    requireNonNull(barrier, "barrier");
    mutex.lock();
    try {
      if (!queue.isEmpty() || (inFlight && commandsInFlight >= BUSY_COMMANDS)) {
        barriers.add(barrier);
        return;
      }
    } finally {
      mutex.unlock();
    }
    prove(barrier, index -> pass(new Read(index, barrier)));
  }

  /**
   * Requests proof that this node leads, without waiting until anything is applied. The proof comes
   * while the apply thread is busy, and says nothing of what that thread has still to do.
   */
  public void leadership(Barrier barrier) {
    requireNonNull(barrier, "barrier");
    prove(barrier, index -> tell(barrier, /* passed= */ true));
  }

  /**
   * Requests an entry. The barrier passes once an entry proposed from now on is applied, and with
   * it all commands that were submitted before.
   */
  public void entry(Barrier barrier) {
    requireNonNull(barrier, "barrier");
    Flight next;
    mutex.lock();
    try {
      barriers.add(barrier);
      next = takeOff();
    } finally {
      mutex.unlock();
    }
    fly(next);
  }

  /**
   * Sends the digest of what this node has applied, with an entry of its own, unless it was sent or
   * an entry is in flight. An entry without commands changes no digest, so an idle leader sends it
   * once.
   */
  public void sendDigest() {
    Flight next = null;
    mutex.lock();
    try {
      if (!inFlight && applied.get().value() != sentDigest) {
        barriers.add(NOBODY);
        next = takeOff();
      }
    } finally {
      mutex.unlock();
    }
    fly(next);
  }

  private AppliedDigest digestToSend() {
    AppliedDigest digest = applied.get();
    mutex.lock();
    try {
      sentDigest = digest.value();
    } finally {
      mutex.unlock();
    }
    return digest;
  }

  private void prove(Barrier barrier, LongConsumer proven) {
    CompletableFuture<OptionalLong> proof;
    try {
      proof = log.readIndex();
    } catch (RuntimeException | Error bug) {
      proof = CompletableFuture.failedFuture(bug);
    }
    supervision.watch(
        WHAT,
        proof.handle(
            (index, failure) -> {
              if (failure != null) {
                tell(barrier, /* passed= */ false);
                throw new CompletionException(failure);
              }
              if (index.isPresent()) {
                proven.accept(index.getAsLong());
              } else {
                entry(barrier);
              }
              return null;
            }));
  }

  /**
   * Passes the barrier once its entry is applied: at once, with the entry in flight, or with the
   * next.
   */
  private void pass(Read read) {
    boolean applied;
    Flight next = null;
    mutex.lock();
    try {
      applied = log.appliedIndex() >= read.index();
      if (!applied && inFlight) {
        reads.add(read);
      } else if (!applied) {
        barriers.add(read.barrier());
        next = takeOff();
      }
    } finally {
      mutex.unlock();
    }
    if (applied) {
      tell(read.barrier(), /* passed= */ true);
    }
    fly(next);
  }

  /** The next flight, if there is something to carry and nothing is in flight. */
  private @Nullable Flight takeOff() {
    if (inFlight || (queue.isEmpty() && barriers.isEmpty() && !suspicious)) {
      return null;
    }
    inFlight = true;
    takenOffNanos = System.nanoTime();
    if (suspicious) {
      commandsInFlight = 0;
      return new Flight(List.of(), List.of());
    }
    List<Proposal> proposals = new ArrayList<>();
    int bytes = 0;
    while (!queue.isEmpty() && bytes < maxEntryBytes) {
      Proposal proposal = queue.removeFirst();
      proposals.add(proposal);
      bytes += proposal.encoded().length;
      queuedBytes -= proposal.encoded().length;
    }
    commandsInFlight = proposals.size();
    List<Barrier> waiting = barriers;
    barriers = new ArrayList<>();
    return new Flight(proposals, waiting);
  }

  /** Proposes this entry, then the entries after it for as long as each is done at once. */
  private void fly(@Nullable Flight first) {
    if (first != null) {
      supervision.essential(WHAT, () -> flyOn(first)).run();
    }
  }

  private void flyOn(Flight first) {
    Flight flight = first;
    while (flight != null) {
      Flight current = flight;
      CompletableFuture<Void> done = append(current);
      if (!done.isDone()) {
        supervision.watch(
            WHAT,
            done.handle(
                (nothing, failure) -> {
                  fly(land(current, failure == null));
                  return null;
                }));
        return;
      }
      flight = land(current, !done.isCompletedExceptionally());
    }
  }

  /**
   * Proposes the entry of a flight. If that throws, the entry may or may not be in the log, so its
   * commands are answered "unknown". That is a bug, but perhaps only these commands meet it, and
   * they must not stop leader after leader. So an empty entry is proposed next. If that throws too,
   * this node can no longer propose anything, and fails.
   */
  private CompletableFuture<Void> append(Flight flight) {
    try {
      CompletableFuture<Void> done =
          log.append(new ProposedEntry(nowMicros(), digestToSend(), flight.proposals()));
      suspect(false);
      return done;
    } catch (RuntimeException | Error bug) {
      if (suspect(true) || bug instanceof Error) {
        suspect(false);
        supervision.failed(WHAT, bug);
      } else {
        LOG.error(
            "an entry of {} commands could not be proposed, so they are answered \"unknown\"; an"
                + " empty entry is tried next",
            flight.proposals().size(),
            LoggedError.of(bug));
      }
      return CompletableFuture.failedFuture(bug);
    }
  }

  /** Returns the value from before. */
  private boolean suspect(boolean broken) {
    mutex.lock();
    try {
      boolean before = suspicious;
      suspicious = broken;
      return before;
    } finally {
      mutex.unlock();
    }
  }

  /** Ends a flight and returns the next one. */
  private @Nullable Flight land(Flight flight, boolean applied) {
    for (Barrier barrier : flight.barriers()) {
      tell(barrier, applied);
    }
    if (!applied) {
      flight.proposals().forEach(Proposal::unknown);
    }
    List<Barrier> passed = new ArrayList<>();
    Flight next;
    mutex.lock();
    try {
      inFlight = false;
      count(applied);
      long appliedIndex = log.appliedIndex();
      for (Read read : reads) {
        (appliedIndex >= read.index() ? passed : barriers).add(read.barrier());
      }
      reads = new ArrayList<>();
      next = takeOff();
    } finally {
      mutex.unlock();
    }
    passed.forEach(barrier -> tell(barrier, /* passed= */ true));
    return next;
  }

  private void count(boolean applied) {
    if (applied) {
      commits.add(TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - takenOffNanos));
    } else {
      unapplied++;
    }
  }

  /** The clock that stamps the entries. */
  public LogClock clock() {
    return clock;
  }

  /** How busy the pipeline is, and has been since the start. */
  public PipelineFigures figures() {
    mutex.lock();
    try {
      return new PipelineFigures(
          queue.size(),
          queuedBytes,
          barriers.size() + reads.size(),
          refused,
          unapplied,
          commits.count());
    } finally {
      mutex.unlock();
    }
  }

  private static void tell(Barrier barrier, boolean passed) {
    Callbacks.tell("a barrier", passed ? barrier::passed : barrier::failed);
  }

  private long nowMicros() {
    try {
      return clock.stampMicros();
    } catch (RuntimeException bug) {
      supervision.failed("the clock", bug);
      return NO_TIME;
    }
  }
}
