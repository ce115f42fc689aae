package dev.tollgate.node.replica;

import dev.tollgate.core.ClusterState;
import dev.tollgate.core.Fence;
import dev.tollgate.core.Hold;
import dev.tollgate.core.Lease;
import dev.tollgate.core.Lock;
import dev.tollgate.core.ReplicaCheck;
import dev.tollgate.core.Session;
import dev.tollgate.core.Transaction;
import dev.tollgate.core.Waiter;
import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.core.command.Environment;
import dev.tollgate.core.command.LeaseKind;
import dev.tollgate.core.command.LockDefinition;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.Right;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.StateChecksum;
import dev.tollgate.core.command.TransactionLimits;
import dev.tollgate.core.command.UniqueId;
import dev.tollgate.core.command.UserAccount;
import dev.tollgate.core.command.UserName;
import dev.tollgate.log.LogStatus;
import dev.tollgate.log.NodeVersion;
import dev.tollgate.log.ReplicatedLog;
import dev.tollgate.log.SnapshotFile;
import dev.tollgate.node.slow.ApplyWatch;
import dev.tollgate.store.statement.LockAccess;
import dev.tollgate.store.statement.SystemTable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The lock state as queries see it, and the rows of the views of schema TOLLGATE. Thread-safe. */
public final class ClusterViews implements LockAccess {
  private final Replica replica;
  private final ReplicatedLog log;
  private final TimeKeeper timeKeeper;
  private final BooleanSupplier ended;
  private final UserName viewer;
  private final SlowViews slow;

  public ClusterViews(Replica replica, ReplicatedLog log, TimeKeeper timeKeeper) {
    this(replica, log, timeKeeper, () -> false, UserName.ANONYMOUS);
  }

  private ClusterViews(
      Replica replica,
      ReplicatedLog log,
      TimeKeeper timeKeeper,
      BooleanSupplier ended,
      UserName viewer) {
    this.replica = replica;
    this.log = log;
    this.timeKeeper = timeKeeper;
    this.ended = ended;
    this.viewer = viewer;
    this.slow = new SlowViews(replica.slow());
  }

  @Override
  public LockAccess until(BooleanSupplier queryEnds) {
    return new ClusterViews(replica, log, timeKeeper, queryEnds, viewer);
  }

  @Override
  public LockAccess seenBy(UserName user) {
    return new ClusterViews(replica, log, timeKeeper, ended, user);
  }

  private <T extends @Nullable Object> T look(Function<ClusterState, T> question) {
    return replica.state().look(question, ended);
  }

  @Override
  public Outcome holdsLock(LockName lock, long token) {
    return look(state -> state.holdsLock(viewer, lock, token));
  }

  @Override
  public Outcome lockToken(LockName lock) {
    return look(state -> state.lockToken(viewer, lock));
  }

  @Override
  public Outcome perform(Operation operation) {
    throw new IllegalStateException("a query cannot change locks: " + operation);
  }

  @Override
  public Iterable<@Nullable Object[]> rows(SystemTable table) {
    return switch (table) {
      case LOCKS -> copyLocks()::holders;
      case LOCK_WAITERS -> copyLocks()::waiters;
      case LOCK_DEFINITIONS -> look(state -> lockDefinitions(state, seen(state)));
      case LEASES -> leases();
      case SESSIONS -> look(state -> sessions(state, seen(state)));
      case TRANSACTIONS -> look(state -> transactions(state, seen(state)));
      case USERS -> look(state -> users(state, seen(state)));
      case RIGHTS -> look(state -> rights(state, seen(state)));
      case FENCES -> look(state -> fences(state, seen(state)));
      case NODES -> nodes();
      case REPLICA_CHECKS -> forOverseers(() -> look(ClusterViews::replicaChecks));
      case ENVIRONMENT -> forOverseers(this::environment);
      case SNAPSHOTS -> forOverseers(this::snapshots);
      case TRANSACTION_LIMITS -> look(ClusterViews::transactionLimits);
      case SLOW_STATEMENTS -> slow.statements(look(this::seen));
      case SLOW_APPLIES -> forOverseers(slow::applies);
      case STUCK_LOCKS -> copyLocks().stuck(slow);
    };
  }

  private Visibility seen(ClusterState state) {
    return Visibility.of(state, viewer);
  }

  /** Rows that administrators and auditors see. */
  private List<@Nullable Object[]> forOverseers(Supplier<List<@Nullable Object[]>> rows) {
    return look(state -> seen(state).all()) ? rows.get() : List.of();
  }

  private CopiedLocks copyLocks() {
    return replica
        .state()
        .lookAlone(
            state -> {
              Map<SessionId, ClientInfo> clients = new HashMap<>();
              state.sessions().forEach(session -> clients.put(session.id(), session.client()));
              return new CopiedLocks(state.copyLocks(), clients, seen(state));
            },
            ended);
  }

  /** All locks at one moment, and the clients of the sessions that were open then. */
  private record CopiedLocks(
      List<Lock> locks, Map<SessionId, ClientInfo> clients, Visibility seen) {
    Iterator<@Nullable Object[]> holders() {
      return locks.stream()
          .filter(seen::shows)
          .flatMap(lock -> lock.holds().stream().map(hold -> holder(lock, hold)))
          .iterator();
    }

    private @Nullable Object[] holder(Lock lock, Hold hold) {
      ClientInfo client = clients.get(hold.session());
      return new @Nullable Object[] {
        lock.name().value(),
        lock.mode().name(),
        seen.showsToken(lock.name()) ? (Long) hold.token().value() : null,
        hold.lease().id().value(),
        hold.lease().owner(),
        hold.sinceMicros(),
        hold.session().value(),
        client == null ? null : client.application(),
        client == null ? null : client.host(),
        client == null ? null : client.process(),
        (long) lock.waiters().size(),
        hold.onlyKeeps()
      };
    }

    List<@Nullable Object[]> stuck(SlowViews slow) {
      return slow.stuckLocks(locks, clients, seen);
    }

    Iterator<@Nullable Object[]> waiters() {
      return locks.stream().filter(seen::shows).flatMap(lock -> waiters(lock).stream()).iterator();
    }

    private List<@Nullable Object[]> waiters(Lock lock) {
      List<@Nullable Object[]> rows = new ArrayList<>(lock.waiters().size());
      for (Waiter waiter : lock.waiters()) {
        SessionId session = waiter.request().session();
        ClientInfo client = clients.get(session);
        rows.add(
            new @Nullable Object[] {
              lock.name().value(),
              rows.size() + 1L,
              waiter.mode().name(),
              waiter.lease().id().value(),
              waiter.lease().owner(),
              waiter.sinceMicros(),
              waiter.waitMillis(),
              session.value(),
              client == null ? null : client.application(),
              client == null ? null : client.host(),
              client == null ? null : client.process()
            });
      }
      return rows;
    }
  }

  private static List<@Nullable Object[]> lockDefinitions(ClusterState state, Visibility seen) {
    List<@Nullable Object[]> rows = new ArrayList<>();
    for (LockDefinition definition : state.lockDefinitions()) {
      if (!seen.shows(definition.lock())) {
        continue;
      }
      Lock lock = state.lock(definition.lock());
      rows.add(
          new @Nullable Object[] {
            definition.lock().value(),
            (long) definition.permits(),
            lock == null ? 0L : (Long) (long) lock.holders()
          });
    }
    return rows;
  }

  private Iterable<@Nullable Object[]> leases() {
    CopiedLeases copy = look(state -> CopiedLeases.of(state, seen(state)));
    return () -> copy.rows(timeKeeper);
  }

  /** All leases at one moment, and how many locks each held then. */
  private record CopiedLeases(List<Lease> leases, List<Integer> locksHeld) {
    static CopiedLeases of(ClusterState state, Visibility seen) {
      List<Lease> leases = state.leases().stream().filter(seen::shows).toList();
      return new CopiedLeases(leases, leases.stream().map(lease -> lease.held().size()).toList());
    }

    Iterator<@Nullable Object[]> rows(TimeKeeper timeKeeper) {
      return IntStream.range(0, leases.size()).mapToObj(i -> row(i, timeKeeper)).iterator();
    }

    private @Nullable Object[] row(int i, TimeKeeper timeKeeper) {
      Lease lease = leases.get(i);
      SessionId creator = lease.creator();
      boolean endsByItself =
          lease.kind() == LeaseKind.TRANSACTION || lease.kind() == LeaseKind.STATEMENT;
      return new @Nullable Object[] {
        lease.id().value(),
        lease.owner(),
        endsByItself ? null : (Long) lease.ttlMillis(),
        timeKeeper.remainingMillis(lease.id()),
        lease.createdMicros(),
        locksHeld.get(i).longValue(),
        lease.isOwn(),
        creator == null ? null : (Long) creator.value(),
        lease.user().value()
      };
    }
  }

  private static List<@Nullable Object[]> sessions(ClusterState state, Visibility seen) {
    List<@Nullable Object[]> rows = new ArrayList<>();
    for (Session session : state.sessions()) {
      if (!seen.shows(session)) {
        continue;
      }
      Lease own = session.ownLease();
      LockName awaited = session.awaited();
      rows.add(
          new @Nullable Object[] {
            session.id().value(),
            session.client().application(),
            session.client().host(),
            session.client().process(),
            session.openedMicros(),
            session.schema(),
            own == null ? null : (Long) own.id().value(),
            session.lastSequence(),
            awaited == null ? null : awaited.value(),
            session.user().value()
          });
    }
    return rows;
  }

  private static List<@Nullable Object[]> users(ClusterState state, Visibility seen) {
    List<@Nullable Object[]> rows = new ArrayList<>();
    for (UserAccount account : state.users()) {
      if (seen.shows(account.name())) {
        rows.add(
            new @Nullable Object[] {
              account.name().value(),
              account.administrator(),
              (long) account.verifiers().size(),
              (long) account.workLimit(),
              account.locked(),
              account.validUntilMicros() == UserAccount.ALWAYS
                  ? null
                  : (Long) account.validUntilMicros()
            });
      }
    }
    return rows;
  }

  private static List<@Nullable Object[]> rights(ClusterState state, Visibility seen) {
    List<@Nullable Object[]> rows = new ArrayList<>();
    for (Right right : state.rights()) {
      if (seen.shows(right)) {
        rows.add(
            new @Nullable Object[] {
              right.grantee(),
              right.kind() == Right.Kind.SEQUENCE ? "USAGE" : right.kind().name(),
              object(right)
            });
      }
    }
    return rows;
  }

  private static String object(Right right) {
    return switch (right.kind()) {
      case LOCK, FORCE -> right.object();
      case SEQUENCE -> right.schema() + "." + right.object();
      case AUDIT -> "CLUSTER";
      case MANAGE -> "LOCKS";
    };
  }

  private static List<@Nullable Object[]> transactions(ClusterState state, Visibility seen) {
    List<@Nullable Object[]> rows = new ArrayList<>();
    for (Transaction transaction : state.transactions()) {
      if (!seen.shows(transaction.session())) {
        continue;
      }
      ClientInfo client = client(state, transaction.session());
      rows.add(
          new @Nullable Object[] {
            transaction.id(),
            transaction.session().value(),
            transaction.isSerializable() ? "SERIALIZABLE" : "READ COMMITTED",
            transaction.openedMicros(),
            (long) transaction.statements(),
            state.statementsWaitingFor(transaction),
            client == null ? null : client.application(),
            client == null ? null : client.host()
          });
    }
    return rows;
  }

  private static List<@Nullable Object[]> transactionLimits(ClusterState state) {
    TransactionLimits limits = state.transactionLimits();
    List<@Nullable Object[]> rows = new ArrayList<>();
    rows.add(new @Nullable Object[] {limits.ageMillis(), limits.idleMillis()});
    return rows;
  }

  private static List<@Nullable Object[]> fences(ClusterState state, Visibility seen) {
    List<@Nullable Object[]> rows = new ArrayList<>();
    for (Fence fence : state.fences()) {
      LockName lock = fence.lock();
      rows.add(
          new @Nullable Object[] {
            fence.table().schema(),
            fence.table().name(),
            lock == null ? null : lock.value(),
            fence.reading().name(),
            seen.shows(fence) ? (Long) fence.highestToken() : null,
            fence.terms() instanceof Operation.RowFence rowFence ? rowFence.lockSql() : null
          });
    }
    return rows;
  }

  private List<@Nullable Object[]> nodes() {
    LogStatus status = log.status();
    // not of the state, which nobody sees while an entry is being applied
    SortedMap<String, String> addresses = replica.facts().nodes();
    ClusterIdentity identity = replica.identity();
    Map<String, NodeVersion> versions = log.versions();
    Map<String, Long> clocks = replica.clocksAhead();
    long committed = status.knownCommitIndex();
    List<@Nullable Object[]> rows = new ArrayList<>();
    for (LogStatus.Member member : status.members()) {
      boolean self = member.nodeId().equals(status.nodeId());
      boolean isLeader = member.nodeId().equals(status.leaderId());
      String role =
          isLeader
              ? LogStatus.Role.LEADER.name()
              : self ? status.role().name() : LogStatus.Role.FOLLOWER.name();
      NodeVersion version = self ? replica.version() : versions.get(member.nodeId());
      rows.add(
          new @Nullable Object[] {
            member.nodeId(),
            role,
            addresses.get(member.nodeId()),
            member.raftAddress(),
            status.term(),
            self
                ? (Long) status.commitIndex()
                : isLeader && status.leaderCommitIndex() >= 0
                    ? (Long) status.leaderCommitIndex()
                    : null,
            member.appliedIndex() < 0 ? null : (Long) member.appliedIndex(),
            self,
            member.silentMillis(),
            member.appliedIndex() < 0 ? null : (Long) (committed - member.appliedIndex()),
            self ? applyingMillis() : null,
            millis(clocks.get(member.nodeId())),
            text(identity.incarnations().get(member.nodeId())),
            text(identity.clusterId()),
            version == null || version.program().isEmpty() ? null : version.program(),
            said(version, NodeVersion::protocol),
            said(version, NodeVersion::logFormat),
            said(version, NodeVersion::snapshotFormat),
            said(version, NodeVersion::featureLevel),
            (long) replica.featureLevel()
          });
    }
    return rows;
  }

  private static @Nullable Long millis(@Nullable Long micros) {
    return micros == null ? null : (Long) TimeUnit.MICROSECONDS.toMillis(micros);
  }

  /** How long the entry that is being applied has been under way, or null without one. */
  private @Nullable Long applyingMillis() {
    ApplyWatch.UnderWay now = replica.applying().underWay();
    return now == null ? null : (Long) now.millis();
  }

  /** A number that a node has said of itself, or null. */
  private static @Nullable Long said(
      @Nullable NodeVersion version, ToIntFunction<NodeVersion> number) {
    int said = version == null ? 0 : number.applyAsInt(version);
    return said == 0 ? null : (Long) (long) said;
  }

  private List<@Nullable Object[]> environment() {
    Environment stated = this.<@Nullable Environment>look(s -> s.computing().environment());
    Environment own = replica.environment();
    SortedMap<String, String> cluster =
        stated == null ? Collections.emptySortedMap() : stated.fingerprints();
    List<@Nullable Object[]> rows = new ArrayList<>();
    SortedSet<String> parts = new TreeSet<>(own.fingerprints().keySet());
    parts.addAll(cluster.keySet());
    for (String part : parts) {
      rows.add(new @Nullable Object[] {part, cluster.get(part), own.fingerprints().get(part)});
    }
    rows.add(
        new @Nullable Object[] {
          "runtime", stated == null ? null : stated.runtime(), own.runtime()
        });
    return rows;
  }

  private static List<@Nullable Object[]> replicaChecks(ClusterState state) {
    List<@Nullable Object[]> rows = new ArrayList<>();
    ReplicaCheck check = state.lastCheck();
    if (check != null) {
      for (String node : check.nodes()) {
        StateChecksum report = check.reports().get(node);
        rows.add(
            new @Nullable Object[] {
              node,
              check.logIndex(),
              report == null ? null : report.total(),
              check.verdictOn(node).name().replace('_', ' ')
            });
      }
    }
    return rows;
  }

  private List<@Nullable Object[]> snapshots() {
    List<@Nullable Object[]> rows = new ArrayList<>();
    try {
      for (SnapshotFile file : log.snapshots().list()) {
        rows.add(
            new @Nullable Object[] {
              file.index(),
              file.term(),
              file.sizeBytes(),
              ChronoUnit.MICROS.between(Instant.EPOCH, file.writtenAt())
            });
      }
    } catch (IOException e) {
      throw new UncheckedIOException("the directory of the snapshots cannot be read", e);
    }
    return rows;
  }

  private static @Nullable String text(@Nullable UniqueId id) {
    return id == null ? null : id.toString();
  }

  private static @Nullable ClientInfo client(ClusterState state, SessionId id) {
    Session session = state.session(id);
    return session == null ? null : session.client();
  }
}
