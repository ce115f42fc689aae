package dev.tollgate.simulation;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Payload;
import dev.tollgate.log.ClockReading;
import dev.tollgate.log.LogConsumer;
import dev.tollgate.log.LogStatus;
import dev.tollgate.log.MemberClocks;
import dev.tollgate.log.Membership;
import dev.tollgate.log.NodeVersion;
import dev.tollgate.log.NotLeadingException;
import dev.tollgate.log.ReplicatedLog;
import dev.tollgate.log.SnapshotStore;
import dev.tollgate.log.StateDiffersException;
import dev.tollgate.log.Supervision;
import dev.tollgate.log.TermLeader;
import dev.tollgate.log.entry.Entry;
import dev.tollgate.log.entry.EntryBytes;
import dev.tollgate.log.entry.ProposedEntry;
import dev.tollgate.log.peer.PeerClocks;
import dev.tollgate.log.ratis.LeadershipRounds;
import dev.tollgate.snapshot.SnapshotReader;
import dev.tollgate.snapshot.SnapshotWriter;
import dev.tollgate.snapshot.StateCopy;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Raft as in figure 2 of the paper (Ongaro and Ousterhout, In Search of an Understandable Consensus
 * Algorithm), with snapshots and with leaders that step down when they hear of no majority. It
 * stands in the place of Ratis and keeps its manners: a leader is told that it leads once it has
 * applied an entry of its own; who waits is told first when leadership ends; an entry proposed here
 * may be applied by this node after it has led.
 */
final class SimulatedLog implements ReplicatedLog {
  private static final long LONGEST_PATIENCE = World.millis(5_000);
  private static final int ENTRIES_PER_MESSAGE = 16;

  private enum Role {
    FOLLOWER,
    CANDIDATE,
    LEADER
  }

  private record Pending(long term, ProposedEntry entry, CompletableFuture<Void> done) {}

  private final SimulatedNode node;
  private final World world;
  private final Disk disk;
  private final LogConsumer consumer;
  private final int snapshotEvery;

  /** How long a follower waits for a leader at the least. */
  private final long election;

  private final long heartbeat;

  /** How long a leader that hears of no majority believes in itself; Raft sets no limit. */
  private final long patience;

  private final double slowSyncs;
  private final boolean answersBeforeCommit;
  private final boolean acknowledgesBeforeSync;

  private final SimulatedLeadership leadership;
  private final LeadershipRounds rounds;
  private final PeerClocks clocks;
  private final Map<Long, Pending> pending = new TreeMap<>();
  private final Map<String, Long> next = new TreeMap<>();
  private final Map<String, Long> match = new TreeMap<>();
  private final Map<String, Long> heardAt = new TreeMap<>();
  private final TreeSet<String> votes = new TreeSet<>();
  private final SortedMap<String, NodeVersion> versions = new TreeMap<>();
  private Role role = Role.FOLLOWER;
  private @Nullable String leader;
  private long electionAt;
  private long syncedAt;
  private long ownEntry;
  private boolean ready;
  private long committed;
  private long applied;
  private boolean applying;
  private int sinceSnapshot;
  private @Nullable StateCopy copying;

  SimulatedLog(SimulatedNode node, Disk disk, LogConsumer consumer, int snapshotEvery) {
    this.node = node;
    this.world = node.world();
    this.disk = disk;
    this.consumer = consumer;
    this.snapshotEvery = snapshotEvery;
    this.election = node.electionNanos();
    this.heartbeat = election / 3;
    this.patience =
        world.chance(0.5) ? 2 * election : world.between(2 * election, LONGEST_PATIENCE);
    this.slowSyncs = world.chance(0.7) ? 0.01 : 0.3;
    this.answersBeforeCommit = node.breakage() == Breakage.ANSWER_BEFORE_COMMIT;
    this.acknowledgesBeforeSync = node.breakage() == Breakage.ACKNOWLEDGED_BEFORE_SYNC;
    this.leadership = new SimulatedLeadership(node);
    this.clocks = new PeerClocks(node.wallClock(), node::monotonicNanos);
    this.rounds = new LeadershipRounds(leadership, new Supervision(node.id(), consumer::failed));
  }

  long applied() {
    return applied;
  }

  boolean leads() {
    return role == Role.LEADER && ready;
  }

  @Override
  public long term() {
    return disk.term;
  }

  long committed() {
    return committed;
  }

  SimulatedLeadership leadership() {
    return leadership;
  }

  @Override
  public void start() {
    Disk.Snapshot snapshot = disk.snapshot;
    if (snapshot != null) {
      restore(snapshot);
    }
    putElectionOff();
    watch();
  }

  private void restore(Disk.Snapshot snapshot) {
    close();
    try {
      consumer.restore(new SnapshotReader(new ByteArrayInputStream(snapshot.bytes())));
    } catch (IOException | RuntimeException e) {
      throw new Violation("restore", e);
    }
    applied = snapshot.index();
    committed = Math.max(committed, applied);
    sinceSnapshot = 0;
    world.count("snapshots restored");
    node.restored(applied);
  }

  private void putElectionOff() {
    electionAt = world.now() + world.between(election, 2 * election);
  }

  /** Every heartbeat's time: a leader beats, anybody else looks whether one does. */
  private void watch() {
    if (role == Role.LEADER) {
      long heard =
          match.keySet().stream().filter(p -> world.now() - heardAt.get(p) < patience).count();
      if (isMajority(heard + 1)) {
        node.others().forEach(this::sendEntries);
      } else {
        stepDown();
      }
    } else if (world.now() >= electionAt) {
      campaign();
    }
    long pause = role == Role.LEADER ? heartbeat : Math.max(electionAt - world.now(), 1_000_000);
    node.later(Math.min(pause, heartbeat), this::watch);
  }

  void hearClock(String from, long wallMicros, long beganNanos) {
    clocks.said(from, wallMicros, beganNanos);
  }

  @Override
  public MemberClocks clocks() {
    if (node.breakage() == Breakage.LEADER_GOES_BY_ITS_CLOCK) {
      return MemberClocks.ALONE;
    }
    SortedMap<String, ClockReading> others = new TreeMap<>();
    for (String peer : node.others()) {
      ClockReading reading = clocks.of(peer);
      if (reading != null) {
        others.put(peer, reading);
      }
    }
    return new MemberClocks(node.others().size() + 1, others);
  }

  private boolean isMajority(long nodes) {
    return 2 * nodes > node.others().size() + 1;
  }

  private void campaign() {
    disk.term++;
    disk.votedFor = node.id();
    role = Role.CANDIDATE;
    leader = null;
    votes.clear();
    votes.add(node.id());
    putElectionOff();
    world.count("elections");
    long term = disk.term;
    long last = disk.lastIndex();
    long lastTerm = disk.termAt(last);
    for (String peer : node.others()) {
      node.send(peer, log -> log.onVoteAsked(node.id(), term, last, lastTerm));
    }
  }

  private void onVoteAsked(String from, long term, long last, long lastTerm) {
    hearTerm(term);
    long ownTerm = disk.termAt(disk.lastIndex());
    boolean upToDate = lastTerm > ownTerm || (lastTerm == ownTerm && last >= disk.lastIndex());
    boolean granted =
        term == disk.term && upToDate && (disk.votedFor == null || disk.votedFor.equals(from));
    if (granted) {
      disk.votedFor = from;
      putElectionOff();
    }
    long reply = disk.term;
    node.answer(from, log -> log.onVote(node.id(), reply, granted));
  }

  private void onVote(String from, long term, boolean granted) {
    hearTerm(term);
    if (role == Role.CANDIDATE && term == disk.term && granted) {
      votes.add(from);
      if (isMajority(votes.size())) {
        lead();
      }
    }
  }

  private void lead() {
    role = Role.LEADER;
    leader = node.id();
    ready = false;
    world.count("leaders");
    next.clear();
    match.clear();
    for (String peer : node.others()) {
      next.put(peer, disk.lastIndex() + 1);
      match.put(peer, 0L);
      heardAt.put(peer, world.now());
    }
    ownEntry = propose(new byte[0]);
    long term = disk.term;
    world.tell(() -> node.id() + " is elected in term " + term);
  }

  private void hearTerm(long term) {
    if (term > disk.term) {
      disk.term = term;
      disk.votedFor = null;
      stepDown();
    }
  }

  private void stepDown() {
    boolean led = role == Role.LEADER;
    role = Role.FOLLOWER;
    ready = false;
    putElectionOff();
    if (led) {
      leader = null;
      world.tell(() -> node.id() + " steps down");
      List<Pending> waiting = new ArrayList<>(pending.values());
      boolean listenersFirst = world.chance(0.5);
      if (listenersFirst) {
        consumer.stoppedLeading();
      }
      waiting.forEach(one -> one.done.completeExceptionally(new NotLeadingException()));
      if (!listenersFirst) {
        consumer.stoppedLeading();
      }
    }
  }

  @Override
  public CompletableFuture<Void> append(ProposedEntry entry) {
    if (!leads()) {
      return CompletableFuture.failedFuture(new NotLeadingException());
    }
    CompletableFuture<Void> done = new CompletableFuture<>();
    pending.put(disk.lastIndex() + 1, new Pending(disk.term, entry, done));
    byte[] bytes = EntryBytes.of(entry);
    node.proposes(bytes);
    propose(bytes);
    if (answersBeforeCommit) {
      committed = disk.lastIndex();
      applySoon();
    }
    return done;
  }

  private long propose(byte[] bytes) {
    disk.append(new Disk.LogEntry(disk.term, Payload.of(bytes)));
    long index = disk.lastIndex();
    sync(this::advance);
    node.others().forEach(this::sendEntries);
    return index;
  }

  /** Entries are on the disk after a while, in order. */
  private void sync(Runnable then) {
    long target = disk.lastIndex();
    Disk.LogEntry last = disk.entry(target);
    long takes =
        world.chance(slowSyncs)
            ? world.between(World.millis(20), World.millis(200))
            : world.between(World.millis(1) / 5, World.millis(3));
    if (acknowledgesBeforeSync) {
      // nobody waits for it, so it comes when the operating system likes
      takes = world.between(World.millis(100), World.millis(5_000));
    }
    syncedAt = Math.max(syncedAt, world.now() + takes);
    node.later(
        syncedAt - world.now(),
        () -> {
          if (disk.has(target) && disk.entry(target).equals(last)) {
            disk.synced = Math.max(disk.synced, target);
            then.run();
          }
        });
  }

  private void sendEntries(String peer) {
    long from = next.get(peer);
    long term = disk.term;
    Disk.Snapshot snapshot = disk.snapshot;
    if (from < disk.firstIndex() && snapshot != null) {
      node.send(peer, log -> log.onSnapshot(node.id(), term, snapshot));
      return;
    }
    long before = from - 1;
    long beforeTerm = disk.termAt(before);
    List<Disk.LogEntry> entries = disk.from(from, ENTRIES_PER_MESSAGE);
    long commit = answersBeforeCommit ? match.get(peer) : committed;
    node.send(peer, log -> log.onEntries(node.id(), term, before, beforeTerm, entries, commit));
  }

  private void onEntries(
      String from,
      long term,
      long before,
      long beforeTerm,
      List<Disk.LogEntry> entries,
      long leaderCommit) {
    hearTerm(term);
    if (term < disk.term) {
      answer(from, false, 0);
      return;
    }
    follow(from);
    if (before >= disk.firstIndex() && disk.termAt(before) != beforeTerm) {
      answer(from, false, Math.min(before, disk.lastIndex() + 1));
      return;
    }
    if (before > disk.lastIndex()) {
      answer(from, false, disk.lastIndex() + 1);
      return;
    }
    boolean added = false;
    for (int i = 0; i < entries.size(); i++) {
      long index = before + 1 + i;
      if (index >= disk.firstIndex() && disk.termAt(index) != entries.get(i).term()) {
        if (disk.has(index)) {
          truncateFrom(index);
        }
        disk.append(entries.get(i));
        added = true;
      }
    }
    long last = before + entries.size();
    committed = Math.max(committed, Math.min(leaderCommit, last));
    applySoon();
    if (added && !acknowledgesBeforeSync) {
      sync(
          () -> {
            if (disk.term == term) {
              answer(from, true, last);
            }
          });
    } else {
      if (added) {
        sync(() -> {});
      }
      answer(from, true, acknowledgesBeforeSync ? last : Math.min(last, disk.synced));
    }
  }

  private void truncateFrom(long index) {
    if (index <= committed && !answersBeforeCommit) {
      throw new Violation("simulated log", node.id() + " drops the committed entry " + index);
    }
    committed = Math.min(committed, index - 1);
    disk.truncateFrom(index);
    pending.keySet().removeIf(proposed -> proposed >= index);
    world.count("entries dropped");
  }

  private void follow(String from) {
    if (role != Role.FOLLOWER) {
      stepDown();
    }
    leader = from;
    putElectionOff();
  }

  private void answer(String to, boolean matches, long index) {
    long term = disk.term;
    node.answer(to, log -> log.onAnswer(node.id(), term, matches, index));
  }

  private void onAnswer(String from, long term, boolean matches, long index) {
    hearTerm(term);
    if (role != Role.LEADER || term != disk.term) {
      return;
    }
    heardAt.put(from, world.now());
    if (matches) {
      match.merge(from, index, Math::max);
      next.merge(from, index + 1, Math::max);
      advance();
    } else {
      next.put(from, Math.max(1, Math.min(index, next.get(from))));
    }
    if (next.get(from) <= disk.lastIndex() && (!matches || index + 1 < disk.lastIndex())) {
      sendEntries(from);
    }
  }

  private void onSnapshot(String from, long term, Disk.Snapshot snapshot) {
    hearTerm(term);
    if (term < disk.term) {
      return;
    }
    follow(from);
    if (snapshot.index() > applied && disk.termAt(snapshot.index()) != snapshot.term()) {
      world.tell(() -> node.id() + " gets a snapshot up to " + snapshot.index());
      disk.replaceBy(snapshot);
      pending.clear();
      restore(snapshot);
    }
    answer(from, true, Math.min(snapshot.index(), disk.synced));
  }

  private void advance() {
    if (role != Role.LEADER) {
      return;
    }
    for (long index = disk.lastIndex(); index > committed; index--) {
      long candidate = index;
      long have = match.values().stream().filter(m -> m >= candidate).count();
      if (disk.termAt(index) == disk.term && isMajority(have + (disk.synced >= index ? 1 : 0))) {
        committed = index;
        applySoon();
        return;
      }
    }
  }

  private void applySoon() {
    if (!applying && applied < committed) {
      applying = true;
      long takes =
          world.chance(0.002)
              ? world.between(World.millis(1), World.millis(60))
              : world.between(5_000, 100_000);
      node.later(takes, this::applyNext);
    }
  }

  private void applyNext() {
    applying = false;
    if (applied >= committed) {
      return;
    }
    long index = ++applied;
    Disk.LogEntry entry = disk.entry(index);
    if (entry.bytes().length == 0) {
      if (role == Role.LEADER && index == ownEntry) {
        ready = true;
        node.startsLeading();
        consumer.startedLeading(disk.term);
      }
    } else {
      Pending proposed = pending.remove(index);
      boolean own = proposed != null && proposed.term == entry.term();
      node.applies(index, entry);
      Entry read = EntryBytes.read(entry.bytes(), own ? proposed.entry.proposals() : List.of());
      if (read.commands().stream().anyMatch(SimulatedLog::isDefinition)) {
        // it would wait until the copy is written, and nobody writes while it waits
        giveUpCopy();
      }
      try {
        consumer.apply(index, read);
      } catch (StateDiffersException e) {
        throw new Violation("digest", e);
      }
      node.applied(index);
      if (own) {
        proposed.done.complete(null);
      }
      snapshotIfDue(index, entry.term());
    }
    applySoon();
  }

  /** Whether a command may change what the database defines, users among that. */
  private static boolean isDefinition(Command command) {
    if (!(command instanceof Command.Perform perform)) {
      return command instanceof Command.CreateFirstUser;
    }
    Operation operation = perform.operation();
    return operation instanceof Operation.CreateUser
        || operation instanceof Operation.AlterUser
        || operation instanceof Operation.DropUser
        || operation instanceof Operation.DefineMarked
        || (operation instanceof Operation.ExecuteSql statement && statement.definition());
  }

  private void snapshotIfDue(long index, long term) {
    if (++sinceSnapshot < snapshotEvery || copying != null) {
      return;
    }
    StateCopy copy = consumer.beginCopy(/* insistent= */ false);
    if (copy == null) {
      return;
    }
    copying = copy;
    sinceSnapshot = 0;
    node.later(world.between(World.millis(1), World.millis(300)), () -> write(index, term, copy));
  }

  /** The log has gone on meanwhile; the copy has not. */
  private void write(long index, long term, StateCopy copy) {
    if (copying != copy) {
      return;
    }
    copying = null;
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (copy) {
      SnapshotWriter writer = new SnapshotWriter(bytes);
      copy.writeTo(writer);
      writer.finish();
    } catch (IOException e) {
      throw new Violation("snapshot", e);
    }
    Disk.Snapshot before = disk.snapshot;
    disk.snapshot = new Disk.Snapshot(index, term, Payload.of(bytes.toByteArray()));
    disk.synced = Math.max(disk.synced, index);
    disk.cutUpTo(world.chance(0.5) ? index : before == null ? 0 : before.index());
    world.count("snapshots written");
  }

  @Override
  public CompletableFuture<Void> forward(Command command) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    forward(command, done);
    return done;
  }

  private void forward(Command command, CompletableFuture<Void> done) {
    String target = leader;
    if (!done.isDone() && target != null) {
      ProposedEntry entry = EntryBytes.untimed(command);
      if (target.equals(node.id())) {
        append(entry).thenAccept(done::complete);
      } else {
        node.send(target, log -> log.append(entry).thenAccept(done::complete));
      }
    }
    if (!done.isDone()) {
      node.later(World.millis(300), () -> forward(command, done));
    }
  }

  @Override
  public CompletableFuture<OptionalLong> readIndex() {
    return rounds.readIndex();
  }

  @Override
  public long appliedIndex() {
    return applied;
  }

  @Override
  public LogStatus status() {
    List<LogStatus.Member> members = new ArrayList<>();
    members.add(new LogStatus.Member(node.id(), "", committed));
    node.others().forEach(peer -> members.add(new LogStatus.Member(peer, "", -1)));
    LogStatus.Role shown = leads() ? LogStatus.Role.LEADER : LogStatus.Role.FOLLOWER;
    return new LogStatus(node.id(), shown, leader, disk.term, applied, committed, members);
  }

  /** A node says with all messages what it knows; what it said in an earlier life counts too. */
  void hearVersion(String from, int level) {
    versions.put(from, NodeVersion.of(Levels.of(level)));
  }

  @Override
  public SortedMap<String, NodeVersion> versions() {
    if (node.breakage() == Breakage.LEVEL_OF_MEMBERS_UNCHECKED) {
      node.others().forEach(other -> hearVersion(other, Levels.LATER));
    }
    return versions;
  }

  @Override
  public @Nullable String leaderId() {
    return leader;
  }

  @Override
  public @Nullable TermLeader servingLeader() {
    return null;
  }

  @Override
  public Membership membership() {
    return Membership.fixed("simulated nodes stay");
  }

  @Override
  public SnapshotStore snapshots() {
    return SnapshotStore.none("simulated");
  }

  @Override
  public boolean isAlone() {
    return node.skipsProof();
  }

  @Override
  public void close() {
    giveUpCopy();
  }

  /** Gives up a copy that is not written yet, so that the next entry makes another. */
  private void giveUpCopy() {
    StateCopy copy = copying;
    copying = null;
    if (copy != null) {
      copy.close();
      sinceSnapshot = snapshotEvery;
    }
  }
}
