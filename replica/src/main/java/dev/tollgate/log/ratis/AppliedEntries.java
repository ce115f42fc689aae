package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Command;
import dev.tollgate.log.CommandFailedException;
import dev.tollgate.log.LogConsumer;
import dev.tollgate.log.SkipList;
import dev.tollgate.log.StateDiffersException;
import dev.tollgate.log.entry.Entry;
import dev.tollgate.log.entry.EntryCodec;
import dev.tollgate.log.entry.Proposal;
import dev.tollgate.log.entry.ProposedEntry;
import dev.tollgate.log.peer.PeerTransport;
import dev.tollgate.log.peer.SealedEntries;
import dev.tollgate.log.snapshot.Snapshots;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.statemachine.TransactionContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Applies committed entries to the state of this node, in log order. Where that fails, this node
 * takes the state of the leader (ADR 0096), or stands at the command and lets later entries pass
 * until it may leave the command out, and then applies again what has passed (ADR 0097). Used by
 * the apply thread, unless a method says otherwise.
 */
final class AppliedEntries {
  private static final Logger LOG = LoggerFactory.getLogger(AppliedEntries.class);

  private final Path directory;
  private final KeptIdentity identity;
  private final LogConsumer consumer;
  private final Snapshots snapshots;
  private final OwnServer server;
  private final FollowerAppends appends;
  private final NodeEnd end;
  private final LeadershipNews leadership;
  private final LastApplied last;
  private final BooleanSupplier isPaused;
  private final SealedEntries sealed;
  private final StateTakeover takeover;
  private volatile @Nullable PeerTransport transport;

  /** The last entry that the state covers after it was replaced, or that is not to be applied. */
  private volatile long coveredIndex = -1;

  /** The command at which this node stands, or null. */
  private volatile @Nullable Standstill standstill;

  /** True while this node waits for the state of a leader. */
  private volatile boolean takingState;

  /** True while entries that were passed are applied out of the log. */
  private volatile boolean replaying;

  /** True once a node without others has differed from what it had computed before. */
  private boolean differsFromBefore;

  /**
   * @param isPaused whether Ratis replaces the state with a snapshot of the leader
   * @param sealed opens what Ratis has appended
   */
  AppliedEntries(
      Path directory,
      KeptIdentity identity,
      LogConsumer consumer,
      Snapshots snapshots,
      OwnServer server,
      FollowerAppends appends,
      NodeEnd end,
      LeadershipNews leadership,
      LastApplied last,
      BooleanSupplier isPaused,
      SealedEntries sealed) {
    this.directory = requireNonNull(directory, "directory");
    this.identity = requireNonNull(identity, "identity");
    this.consumer = requireNonNull(consumer, "consumer");
    this.snapshots = requireNonNull(snapshots, "snapshots");
    this.server = requireNonNull(server, "server");
    this.appends = requireNonNull(appends, "appends");
    this.end = requireNonNull(end, "end");
    this.leadership = requireNonNull(leadership, "leadership");
    this.last = requireNonNull(last, "last");
    this.isPaused = requireNonNull(isPaused, "isPaused");
    this.sealed = requireNonNull(sealed, "sealed");
    this.takeover =
        new StateTakeover(server, consumer, snapshots, appends, this::isReplacedOrStops);
  }

  /** Sets the way on which a snapshot of the leader comes; before the start. */
  void use(@Nullable PeerTransport peers) {
    transport = peers;
  }

  /**
   * True while this node stands at a command, applies again what it has passed since, or waits for
   * the state of a leader: it leads for Ratis at most, and serves nobody. For any thread.
   */
  boolean isStanding() {
    return standstill != null || replaying || takingState;
  }

  /** True if an entry is not to be applied, because the state covers it. For any thread. */
  boolean covers(long index) {
    return index <= coveredIndex;
  }

  /**
   * Begins with a state that was restored when this node started.
   *
   * @param covered the last entry that the state covers, or null if it covers none
   */
  void begin(@Nullable TermIndex covered) throws IOException {
    beginAt(covered);
    keepIdentity();
  }

  /** Begins anew with the snapshot that Ratis has put in the place of the log. */
  void reopen() throws IOException {
    synchronized (snapshots) {
      beginAt(snapshots.reopen());
    }
    coveredIndex = -1;
    takingState = false;
    endStandstill();
    goOn();
    keepIdentity();
  }

  private void beginAt(@Nullable TermIndex covered) {
    if (covered != null) {
      last.set(covered);
    }
  }

  /** Ends what this does besides applying; for any thread. */
  void close() {
    Standstill standing = standstill;
    if (standing != null) {
      standing.close();
    }
  }

  /** Applies the next entry. */
  void apply(TransactionContext transaction) throws IOException {
    LogEntryProto logEntry = transaction.getLogEntry();
    List<Proposal> proposals =
        transaction.getStateMachineContext() instanceof ProposedEntry here
            ? here.proposals()
            : List.of();
    if (covers(logEntry.getIndex())) {
      proposals.forEach(Proposal::unknown);
    } else {
      // even of an entry that was proposed here, only the bytes count; they never were on the disk
      byte[] payload =
          transaction.getClientRequest() == null
              ? sealed.payloadOf(logEntry)
              : SealedEntries.proposedPayloadOf(logEntry);
      applyOrPass(logEntry, EntryCodec.decode(payload, proposals));
    }
    identity.keepOrStop(last.get().getIndex());
  }

  private void keepIdentity() throws IOException {
    identity.keep(last.get().getIndex());
  }

  private void applyOrPass(LogEntryProto logEntry, Entry entry) throws IOException {
    Standstill standing = standstill;
    if (standing != null) {
      pass(standing, logEntry, entry);
      return;
    }
    try {
      apply(logEntry, entry);
    } catch (StateDiffersException e) {
      takeStateAndApply(logEntry, entry, e);
    } catch (CommandFailedException e) {
      stand(logEntry, entry, e);
    }
  }

  private void apply(LogEntryProto logEntry, Entry entry) {
    synchronized (snapshots) {
      consumer.apply(logEntry.getIndex(), entry);
      if (replaying) {
        return;
      }
      last.advance(TermIndex.valueOf(logEntry));
      snapshots.applied(
          TermIndex.valueOf(logEntry), logEntry.getStateMachineLogEntry().getLogData().size());
    }
  }

  /**
   * Stands at a command that failed, if there are other nodes, which may say whether it is wrong.
   */
  private void stand(LogEntryProto logEntry, Entry entry, CommandFailedException why)
      throws IOException {
    PeerTransport others = transport;
    boolean skipped = SkipList.read(directory).contains(why.logIndex(), why.ordinal());
    if (skipped || others == null || server.isAlone()) {
      throw why;
    }
    consumer.stands(why);
    Standstill standing =
        new Standstill(
            why,
            server.get(),
            server.division(),
            others,
            appends,
            end.supervision(),
            end::failAndLeave);
    standstill = standing;
    leadership.changed();
    consumer.leaderMayHaveChanged();
    passed(logEntry, entry);
    standing.start();
  }

  private void passed(LogEntryProto logEntry, Entry entry) {
    entry.proposals().forEach(Proposal::unknown);
    if (!replaying) {
      last.advance(TermIndex.valueOf(logEntry));
    }
  }

  /** Lets an entry pass while this node stands, and looks whether the entry ends that. */
  private void pass(Standstill standing, LogEntryProto logEntry, Entry entry) throws IOException {
    if (!entry.digest().isNone() && entry.digest().logIndex() >= standing.logIndex()) {
      takeStateAndApply(
          logEntry,
          entry,
          new StateDiffersException(
              "a leader has carried out the command of log entry "
                  + standing.logIndex()
                  + " that failed on this node"));
      return;
    }
    passed(logEntry, entry);
    for (Command command : entry.commands()) {
      if (command instanceof Command.ReportFailure report) {
        standing.reported(report);
      } else if (command instanceof Command.SkipCommand skip
          && standing.isAt(skip.logIndex(), skip.ordinal())) {
        skip(skip, logEntry.getIndex());
      }
    }
  }

  /** Leaves a command out, and applies all others up to this entry to a state of before it. */
  private void skip(Command.SkipCommand skip, long through) throws IOException {
    SkipList.Skip place = new SkipList.Skip(skip.logIndex(), skip.ordinal());
    consumer.leaveOut(SkipList.read(directory).with(place, directory));
    boolean outer = replaying;
    replaying = true;
    endStandstill();
    TermIndex begun;
    synchronized (snapshots) {
      begun = snapshots.beginAnew();
    }
    applyAgain(begun == null ? RaftLog.LEAST_VALID_LOG_INDEX : begun.getIndex() + 1, through);
    replaying = outer;
    if (isReplacedOrStops()) {
      standAside(through);
    } else {
      keepIdentity();
      goOn();
    }
  }

  private void applyAgain(long from, long through) throws IOException {
    RaftLog log = server.division().getRaftLog();
    for (long index = from; index <= through && !isReplacedOrStops(); index++) {
      LogEntryProto logEntry = log.get(index);
      if (logEntry == null) {
        throw new IOException("entry " + index + " is not in the log of this node any more");
      }
      if (!covers(index) && logEntry.hasStateMachineLogEntry()) {
        applyOrPass(logEntry, EntryCodec.decode(sealed.payloadOf(logEntry), List.of()));
      }
    }
  }

  private void endStandstill() {
    Standstill standing = standstill;
    if (standing != null) {
      standing.close();
      standstill = null;
    }
  }

  /** Serves again, unless this node stands, or has still to apply what it has passed. */
  private void goOn() {
    if (!isStanding()) {
      consumer.goesOn();
      appends.mayBeElected();
      leadership.changed();
      consumer.leaderMayHaveChanged();
    }
  }

  private void takeStateAndApply(LogEntryProto logEntry, Entry entry, StateDiffersException why)
      throws IOException {
    if (standstill == null && server.isAlone()) {
      goOnDiffering(logEntry, entry, why);
      return;
    }
    PeerTransport others = transport;
    if (others == null || takeover.isOneTooMany()) {
      throw why;
    }
    takingState = true;
    leadership.changed();
    if (!takeover.run(others, why, logEntry.getIndex())) {
      entry.proposals().forEach(Proposal::unknown);
      standAside(logEntry.getIndex());
      return;
    }
    synchronized (snapshots) {
      TermIndex covered = requireNonNull(snapshots.reopen(), "it has just arrived");
      if (covered.compareTo(last.get()) > 0) {
        last.set(covered);
      }
      coveredIndex = covered.getIndex();
    }
    takingState = false;
    endStandstill();
    keepIdentity();
    goOn();
    if (covers(logEntry.getIndex())) {
      entry.proposals().forEach(Proposal::unknown);
    } else {
      applyOrPass(logEntry, entry);
    }
  }

  /** A node without others has nobody whose state it could take. */
  private void goOnDiffering(LogEntryProto logEntry, Entry entry, StateDiffersException why) {
    if (!differsFromBefore) {
      differsFromBefore = true;
      LOG.error(
          "{}: there is no other node, so this one goes on with its state: {}",
          server.get().getId(),
          why.getMessage());
    }
    apply(logEntry, entry.withoutDigest());
  }

  private boolean isReplacedOrStops() {
    return end.hasBegun() || isPaused.getAsBoolean();
  }

  /** Applies no entry until Ratis has replaced the state, or none at all if this node stops. */
  private void standAside(long through) {
    coveredIndex = isPaused.getAsBoolean() ? through : Long.MAX_VALUE;
  }
}
