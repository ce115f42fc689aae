package dev.tollgate.snapshot;

import dev.tollgate.core.StateRecord;
import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.core.command.ClusterKey;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Computing;
import dev.tollgate.core.command.Environment;
import dev.tollgate.core.command.FenceId;
import dev.tollgate.core.command.FenceReading;
import dev.tollgate.core.command.FencingToken;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.LeaseKind;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LockDefinition;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.LogPosition;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.PresentedToken;
import dev.tollgate.core.command.RandomSeed;
import dev.tollgate.core.command.RequestId;
import dev.tollgate.core.command.Right;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.StateChecksum;
import dev.tollgate.core.command.TableName;
import dev.tollgate.core.command.TimeZoneName;
import dev.tollgate.core.command.TransactionLimits;
import dev.tollgate.core.command.UniqueId;
import dev.tollgate.core.command.UserAccount;
import dev.tollgate.core.command.UserName;
import dev.tollgate.wire.WireFormatException;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The core's state in bytes. The numbers are a format on disk: never change one, only add new ones.
 * A change of layout takes a new version of the snapshot.
 */
public final class StateCodec {
  /** The first record kind that does not belong to the core. */
  public static final int FIRST_FREE_KIND = 32;

  private static final int COUNTERS = 1;
  private static final int NODE = 2;
  private static final int LEASE = 3;
  private static final int SESSION = 4;
  private static final int LOCK = 5;
  private static final int FENCE = 6;
  private static final int CHECK = 7;
  private static final int RANDOMNESS = 8;
  private static final int COMPUTING = 9;
  private static final int IDENTITY = 13;
  private static final int SKIPPED = 20;
  private static final int SILENCE = 11;
  private static final int DIGEST = 12;

  /** A session with the content checksum of its last request after the request's number. */
  private static final int SESSION_WITH_CONTENT = 14;

  private static final int LIMITS = 15;
  private static final int SESSION_FENCE = 16;

  /** A lease that keeps a lock; laid out as any other lease. */
  private static final int KEEPING_LEASE = 17;

  /** A lock with requests for several locks in its queue. */
  private static final int LOCK_WITH_SETS = 18;

  private static final int DEFINED_LOCK = 19;

  /** The lease of an open transaction; laid out as any other lease. */
  private static final int TRANSACTION_LEASE = 21;

  /** The lease of a LOCKED BY statement that waits; laid out as any other lease. */
  private static final int STATEMENT_LEASE = 22;

  private static final int WAITING_STATEMENT = 23;

  /** A lease of a user: the kind of its record and the name of the user come first. */
  private static final int LEASE_OF_USER = 24;

  /** A session of a user, whose name comes first; otherwise as a session with content. */
  private static final int SESSION_OF_USER = 25;

  private static final int USER = 26;
  private static final int RIGHT = 27;
  private static final int LOGIN_SECRET = 28;
  private static final int FEATURE_LEVEL = 29;

  /** A user with a work limit, which comes last. */
  private static final int LIMITED_USER = 30;

  /** A user that is locked or expires, laid out as a limited user; lock and validity come last. */
  private static final int CLOSING_USER = 31;

  private StateCodec() {}

  /** Writes the body of a record and returns its kind. */
  public static int write(WireWriter out, StateRecord piece) {
    return piece.handledBy(new RecordWriter(out));
  }

  /**
   * Reads a record.
   *
   * @param kind less than {@link #FIRST_FREE_KIND}
   */
  public static StateRecord read(int kind, WireReader in) throws CorruptSnapshotException {
    return switch (kind) {
      case COUNTERS ->
          new StateRecord.Counters(
              new LogPosition(in.i64(), in.i32(), in.i64()),
              in.i64(),
              in.i64(),
              in.i64(),
              in.i64(),
              in.i64());
      case NODE -> new StateRecord.NodeAddress(in.string(), in.string());
      case LEASE, KEEPING_LEASE, TRANSACTION_LEASE, STATEMENT_LEASE ->
          lease(in, kind, UserName.ANONYMOUS);
      case LEASE_OF_USER -> lease(in, in.u8(), new UserName(in.string()));
      case WAITING_STATEMENT -> waitingStatement(in);
      case SESSION -> session(in, /* withContent= */ false, UserName.ANONYMOUS);
      case SESSION_WITH_CONTENT -> session(in, /* withContent= */ true, UserName.ANONYMOUS);
      case SESSION_OF_USER -> session(in, /* withContent= */ true, new UserName(in.string()));
      case USER -> new StateRecord.UserState(account(in).numbered(in.i64()));
      case LIMITED_USER -> new StateRecord.UserState(limited(in));
      case CLOSING_USER ->
          new StateRecord.UserState(limited(in).locked(in.flag()).validUntil(in.i64()));
      case LOGIN_SECRET -> new StateRecord.LoginSecret(uuid(in), in.i64());
      case RIGHT -> new StateRecord.RightState(right(in));
      case SESSION_FENCE ->
          new StateRecord.SessionFence(
              new SessionId(in.i64()), new PresentedToken(new LockName(in.string()), in.i64()));
      case LOCK -> lock(in, /* withSets= */ false);
      case LOCK_WITH_SETS -> lock(in, /* withSets= */ true);
      case DEFINED_LOCK ->
          new StateRecord.DefinedLock(new LockDefinition(new LockName(in.string()), in.i32()));
      case FENCE ->
          new StateRecord.FenceState(
              new FenceId(in.i64()),
              new TableName(in.nullableString(), in.string()),
              terms(in),
              in.i64());
      case CHECK -> check(in);
      case RANDOMNESS -> new StateRecord.Randomness(new RandomSeed(in.i64(), in.i64()));
      case SILENCE -> new StateRecord.LeaseSilence(new LeaseId(in.i64()), in.i64(), in.i64());
      case COMPUTING ->
          new StateRecord.ComputingState(
              in.flag() ? Computing.PAUSED : Computing.in(environment(in)));
      case IDENTITY -> identity(in);
      case LIMITS -> new StateRecord.LimitsState(new TransactionLimits(in.i64(), in.i64()));
      case FEATURE_LEVEL -> new StateRecord.FeatureLevelState(in.i32());
      case DIGEST -> new StateRecord.Digest(in.i64());
      case SKIPPED -> new StateRecord.SkippedCommand(in.i64(), in.i32());
      default -> throw UnknownVersionException.ofRecord(kind);
    };
  }

  private static StateRecord identity(WireReader in) {
    boolean named = in.flag();
    UniqueId clusterId = named ? uuid(in) : null;
    ClusterKey key = named ? key(in) : null;
    SortedMap<String, UniqueId> incarnations = new TreeMap<>();
    for (int i = in.count(20); i > 0; i--) {
      incarnations.put(in.string(), uuid(in));
    }
    return new StateRecord.Identity(
        new ClusterIdentity(clusterId, key, incarnations, list(in, 4, WireReader::string)));
  }

  /** Reads the key of a cluster, in log entries too. */
  public static ClusterKey key(WireReader in) {
    byte[] bytes = in.bytes();
    if (bytes.length != ClusterKey.BYTES) {
      throw new WireFormatException("a key of " + bytes.length + " bytes");
    }
    return new ClusterKey(bytes);
  }

  /** Writes a key as {@link #key(WireReader)} reads it. */
  public static void key(WireWriter out, ClusterKey key) {
    out.bytes(key.toBytes());
  }

  private static UniqueId uuid(WireReader in) {
    return new UniqueId(in.i64(), in.i64());
  }

  private static StateRecord check(WireReader in) {
    long logIndex = in.i64();
    List<String> nodes = list(in, 4, WireReader::string);
    SortedMap<String, StateChecksum> reports = new TreeMap<>();
    for (int i = in.count(12); i > 0; i--) {
      reports.put(in.string(), checksum(in));
    }
    return new StateRecord.CheckState(logIndex, nodes, reports);
  }

  /** Reads a checksum, in log entries too. */
  public static StateChecksum checksum(WireReader in) {
    String total = in.string();
    SortedMap<String, Long> parts = new TreeMap<>();
    for (int i = in.count(12); i > 0; i--) {
      parts.put(in.string(), in.i64());
    }
    return new StateChecksum(total, parts);
  }

  /** Writes a checksum as {@link #checksum(WireReader)} reads it. */
  public static void checksum(WireWriter out, StateChecksum checksum) {
    out.string(checksum.total()).i32(checksum.parts().size());
    checksum.parts().forEach((name, part) -> out.string(name).i64(part));
  }

  /** Reads an environment, in log entries too. */
  public static Environment environment(WireReader in) {
    SortedMap<String, String> fingerprints = new TreeMap<>();
    for (int i = in.count(8); i > 0; i--) {
      fingerprints.put(in.string(), in.string());
    }
    return new Environment(fingerprints, in.string());
  }

  /** Writes an environment as {@link #environment(WireReader)} reads it. */
  public static void environment(WireWriter out, Environment environment) {
    out.i32(environment.fingerprints().size());
    environment.fingerprints().forEach((part, print) -> out.string(part).string(print));
    out.string(environment.runtime());
  }

  private static StateRecord waitingStatement(WireReader in) throws CorruptSnapshotException {
    SessionId session = new SessionId(in.i64());
    LeaseId lease = new LeaseId(in.i64());
    LockName lock = new LockName(in.string());
    Operation operation;
    try {
      operation = OperationCodec.read(in);
    } catch (UnknownOperationException e) {
      throw UnknownVersionException.ofOperation(e);
    }
    if (!(operation instanceof Operation.ExecuteSql sql)) {
      throw new CorruptSnapshotException("a waiting statement that is none: " + operation);
    }
    List<Outcome> done = new ArrayList<>();
    for (int i = in.count(1); i > 0; i--) {
      done.add(OutcomeCodec.read(in));
    }
    return new StateRecord.WaitingStatement(session, lease, lock, sql, done);
  }

  private static UserAccount limited(WireReader in) {
    return account(in).numbered(in.i64()).with(in.u8());
  }

  /** Reads a user with a name, passwords and nothing else, in log entries too. */
  public static UserAccount account(WireReader in) {
    return new UserAccount(new UserName(in.string()), in.flag(), list(in, 4, WireReader::string));
  }

  /** Writes a user as {@link #account(WireReader)} reads it, without its limits and its number. */
  public static void account(WireWriter out, UserAccount account) {
    out.string(account.name().value()).flag(account.administrator());
    out.i32(account.verifiers().size());
    account.verifiers().forEach(out::string);
  }

  /** Reads a right, in log entries too. */
  public static Right right(WireReader in) {
    int kind = in.u8();
    return new Right(
        switch (kind) {
          case 0 -> Right.Kind.LOCK;
          case 1 -> Right.Kind.FORCE;
          case 2 -> Right.Kind.SEQUENCE;
          case 3 -> Right.Kind.AUDIT;
          case 4 -> Right.Kind.MANAGE;
          default -> throw new UnknownOperationException("a right of kind " + kind);
        },
        in.nullableString(),
        in.string(),
        in.string());
  }

  /** Writes a right as {@link #right(WireReader)} reads it. */
  public static void right(WireWriter out, Right right) {
    out.u8(
        switch (right.kind()) {
          case LOCK -> 0;
          case FORCE -> 1;
          case SEQUENCE -> 2;
          case AUDIT -> 3;
          case MANAGE -> 4;
        });
    out.nullableString(right.schema()).string(right.object()).string(right.grantee());
  }

  /**
   * Reads a lease.
   *
   * @param record the kind of its record
   */
  private static StateRecord lease(WireReader in, int record, UserName user) {
    LeaseKind kind =
        switch (record) {
          case LEASE -> LeaseKind.CLIENT;
          case KEEPING_LEASE -> LeaseKind.KEEP;
          case TRANSACTION_LEASE -> LeaseKind.TRANSACTION;
          case STATEMENT_LEASE -> LeaseKind.STATEMENT;
          default -> throw new UnknownOperationException("a lease of kind " + record);
        };
    LeaseId id = new LeaseId(in.i64());
    String owner = in.string();
    long ttlMillis = in.i64();
    long createdMicros = in.i64();
    SessionId creator = sessionOrNull(in.i64());
    LeaseKind actual = in.flag() ? LeaseKind.OWN : kind;
    return new StateRecord.LeaseState(
        id, owner, ttlMillis, createdMicros, creator, actual, user, names(in), names(in));
  }

  private static StateRecord lock(WireReader in, boolean withSets) {
    return new StateRecord.LockState(
        new LockName(in.string()), mode(in), list(in, 32, StateCodec::hold), waiters(in, withSets));
  }

  private static StateRecord session(WireReader in, boolean withContent, UserName user)
      throws CorruptSnapshotException {
    SessionId id = new SessionId(in.i64());
    Command.OpenSession opening =
        new Command.OpenSession(
            new ClientInfo(in.string(), in.string(), in.string()),
            in.i64(),
            in.i64(),
            in.i64(),
            user,
            Command.OpenSession.ANY_NUMBER,
            new TimeZoneName(in.string()));
    long openedMicros = in.i64();
    String schema = in.string();
    TimeZoneName timeZone = new TimeZoneName(in.string());
    SortedMap<LockName, Long> presented = new TreeMap<>();
    for (int i = in.count(12); i > 0; i--) {
      presented.put(new LockName(in.string()), in.i64());
    }
    long ownLease = in.i64();
    List<LockName> lost = names(in);
    long lastSequence = in.i64();
    return new StateRecord.SessionState(
        id,
        opening,
        openedMicros,
        schema,
        timeZone,
        presented,
        ownLease == 0 ? null : new LeaseId(ownLease),
        lost,
        lastSequence,
        withContent ? in.i64() : Command.Perform.UNKNOWN_CONTENT,
        in.flag() ? OutcomeCodec.read(in) : null,
        nameOrNull(in.nullableString()),
        in.i64(),
        in.nullableString());
  }

  private static StateRecord.HoldState hold(WireReader in) {
    return new StateRecord.HoldState(
        new LeaseId(in.i64()), new FencingToken(in.i64()), in.i64(), new SessionId(in.i64()));
  }

  private static List<StateRecord.WaiterState> waiters(WireReader in, boolean withSets) {
    return list(
        in,
        41,
        item ->
            new StateRecord.WaiterState(
                new RequestId(new SessionId(item.i64()), item.i64()),
                new LeaseId(item.i64()),
                mode(item),
                item.i64(),
                item.i64(),
                withSets ? names(item) : List.of()));
  }

  private static LockMode mode(WireReader in) {
    return in.flag() ? LockMode.SHARED : LockMode.EXCLUSIVE;
  }

  private static Operation.FenceTerms terms(WireReader in) {
    return in.flag()
        ? new Operation.RowFence(in.string())
        : new Operation.TableFence(
            new LockName(in.string()), in.flag() ? FenceReading.MONOTONIC : FenceReading.HELD);
  }

  private static List<LockName> names(WireReader in) {
    return list(in, 4, item -> new LockName(item.string()));
  }

  private static @Nullable LockName nameOrNull(@Nullable String name) {
    return name == null ? null : new LockName(name);
  }

  /** Session ids begin at 1. */
  private static @Nullable SessionId sessionOrNull(long id) {
    return id == 0 ? null : new SessionId(id);
  }

  static <T> List<T> list(WireReader in, int itemBytes, Function<WireReader, T> item) {
    int count = in.count(itemBytes);
    List<T> items = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      items.add(item.apply(in));
    }
    return items;
  }

  private static final class RecordWriter implements StateRecord.Handler<Integer> {
    private final WireWriter out;

    RecordWriter(WireWriter out) {
      this.out = out;
    }

    @Override
    public Integer counters(StateRecord.Counters state) {
      LogPosition position = state.position();
      out.i64(position.logIndex()).i32(position.ordinal()).i64(position.timeMicros());
      out.i64(state.lastSession()).i64(state.lastLease()).i64(state.lastToken());
      out.i64(state.lastFence()).i64(state.lastTransaction());
      return COUNTERS;
    }

    @Override
    public Integer node(StateRecord.NodeAddress state) {
      out.string(state.nodeId()).string(state.clientAddress());
      return NODE;
    }

    @Override
    public Integer lease(StateRecord.LeaseState state) {
      SessionId creator = state.creator();
      int kind =
          switch (state.kind()) {
            case CLIENT, OWN -> LEASE;
            case KEEP -> KEEPING_LEASE;
            case TRANSACTION -> TRANSACTION_LEASE;
            case STATEMENT -> STATEMENT_LEASE;
          };
      boolean ofUser = !state.user().equals(UserName.ANONYMOUS);
      if (ofUser) {
        out.u8(kind).string(state.user().value());
      }
      out.i64(state.id().value()).string(state.owner());
      out.i64(state.ttlMillis()).i64(state.createdMicros());
      out.i64(creator == null ? 0 : creator.value()).flag(state.kind() == LeaseKind.OWN);
      names(state.held());
      names(state.awaited());
      return ofUser ? LEASE_OF_USER : kind;
    }

    @Override
    public Integer session(StateRecord.SessionState state) {
      Command.OpenSession opening = state.opening();
      ClientInfo client = opening.client();
      boolean ofUser = !opening.user().equals(UserName.ANONYMOUS);
      if (ofUser) {
        out.string(opening.user().value());
      }
      out.i64(state.id().value());
      out.string(client.application()).string(client.host()).string(client.process());
      out.i64(opening.secret()).i64(opening.ttlMillis()).i64(opening.leaseTtlMillis());
      out.string(opening.timeZone().value());
      out.i64(state.openedMicros()).string(state.schema()).string(state.timeZone().value());
      out.i32(state.presented().size());
      state.presented().forEach((lock, token) -> out.string(lock.value()).i64(token));
      LeaseId ownLease = state.ownLease();
      out.i64(ownLease == null ? 0 : ownLease.value());
      names(state.lost());
      boolean withContent = ofUser || state.lastContent() != Command.Perform.UNKNOWN_CONTENT;
      out.i64(state.lastSequence());
      if (withContent) {
        out.i64(state.lastContent());
      }
      out.flag(state.lastOutcome() != null);
      if (state.lastOutcome() != null) {
        OutcomeCodec.write(out, state.lastOutcome());
      }
      LockName awaited = state.awaited();
      out.nullableString(awaited == null ? null : awaited.value());
      out.i64(state.lockTimeoutMillis()).nullableString(state.lostTransaction());
      return ofUser ? SESSION_OF_USER : withContent ? SESSION_WITH_CONTENT : SESSION;
    }

    @Override
    public Integer user(StateRecord.UserState state) {
      UserAccount account = state.account();
      account(out, account);
      out.i64(account.number());
      boolean closing = account.locked() || account.validUntilMicros() != UserAccount.ALWAYS;
      if (!closing && account.workLimit() == Limits.FULL_WORK) {
        return USER;
      }
      out.u8(account.workLimit());
      if (!closing) {
        return LIMITED_USER;
      }
      out.flag(account.locked()).i64(account.validUntilMicros());
      return CLOSING_USER;
    }

    @Override
    public Integer loginSecret(StateRecord.LoginSecret state) {
      uuid(state.secret());
      out.i64(state.lastUser());
      return LOGIN_SECRET;
    }

    @Override
    public Integer right(StateRecord.RightState state) {
      StateCodec.right(out, state.right());
      return RIGHT;
    }

    @Override
    public Integer sessionFence(StateRecord.SessionFence state) {
      out.i64(state.session().value());
      out.string(state.fence().lock().value()).i64(state.fence().token());
      return SESSION_FENCE;
    }

    @Override
    public Integer waitingStatement(StateRecord.WaitingStatement state) {
      out.i64(state.session().value()).i64(state.lease().value()).string(state.lock().value());
      OperationCodec.write(out, state.statement());
      out.i32(state.done().size());
      state.done().forEach(outcome -> OutcomeCodec.write(out, outcome));
      return WAITING_STATEMENT;
    }

    @Override
    public Integer definedLock(StateRecord.DefinedLock state) {
      out.string(state.definition().lock().value()).i32(state.definition().permits());
      return DEFINED_LOCK;
    }

    @Override
    public Integer lock(StateRecord.LockState state) {
      boolean withSets = state.waiters().stream().anyMatch(waiter -> !waiter.together().isEmpty());
      out.string(state.name().value()).flag(state.mode() == LockMode.SHARED);
      out.i32(state.holds().size());
      for (StateRecord.HoldState hold : state.holds()) {
        out.i64(hold.lease().value()).i64(hold.token().value());
        out.i64(hold.sinceMicros()).i64(hold.session().value());
      }
      out.i32(state.waiters().size());
      for (StateRecord.WaiterState waiter : state.waiters()) {
        out.i64(waiter.request().session().value()).i64(waiter.request().sequence());
        out.i64(waiter.lease().value()).flag(waiter.mode() == LockMode.SHARED);
        out.i64(waiter.sinceMicros()).i64(waiter.waitMillis());
        if (withSets) {
          names(waiter.together());
        }
      }
      return withSets ? LOCK_WITH_SETS : LOCK;
    }

    @Override
    public Integer fence(StateRecord.FenceState state) {
      out.i64(state.id().value());
      out.nullableString(state.table().schema()).string(state.table().name());
      if (state.terms() instanceof Operation.TableFence fence) {
        out.flag(false).string(fence.lock().value());
        out.flag(fence.reading() == FenceReading.MONOTONIC);
      } else if (state.terms() instanceof Operation.RowFence fence) {
        out.flag(true).string(fence.lockSql());
      }
      out.i64(state.highestToken());
      return FENCE;
    }

    @Override
    public Integer randomness(StateRecord.Randomness state) {
      out.i64(state.seed().high()).i64(state.seed().low());
      return RANDOMNESS;
    }

    @Override
    public Integer silence(StateRecord.LeaseSilence state) {
      out.i64(state.lease().value()).i64(state.recordedRenewals()).i64(state.remainingMillis());
      return SILENCE;
    }

    @Override
    public Integer computing(StateRecord.ComputingState state) {
      Environment environment = state.computing().environment();
      out.flag(environment == null);
      if (environment != null) {
        environment(out, environment);
      }
      return COMPUTING;
    }

    @Override
    public Integer limits(StateRecord.LimitsState state) {
      out.i64(state.limits().ageMillis()).i64(state.limits().idleMillis());
      return LIMITS;
    }

    @Override
    public Integer featureLevel(StateRecord.FeatureLevelState state) {
      out.i32(state.level());
      return FEATURE_LEVEL;
    }

    @Override
    public Integer digest(StateRecord.Digest state) {
      out.i64(state.value());
      return DIGEST;
    }

    @Override
    public Integer skipped(StateRecord.SkippedCommand state) {
      out.i64(state.logIndex()).i32(state.ordinal());
      return SKIPPED;
    }

    @Override
    public Integer check(StateRecord.CheckState state) {
      out.i64(state.logIndex()).i32(state.nodes().size());
      state.nodes().forEach(out::string);
      out.i32(state.reports().size());
      state.reports().forEach((node, report) -> checksum(out.string(node), report));
      return CHECK;
    }

    @Override
    public Integer identity(StateRecord.Identity state) {
      ClusterIdentity identity = state.identity();
      UniqueId clusterId = identity.clusterId();
      ClusterKey key = identity.key();
      if (clusterId == null || key == null) {
        out.flag(false);
      } else {
        out.flag(true);
        uuid(clusterId);
        key(out, key);
      }
      out.i32(identity.incarnations().size());
      identity
          .incarnations()
          .forEach(
              (node, incarnation) -> {
                out.string(node);
                uuid(incarnation);
              });
      out.i32(identity.removed().size());
      identity.removed().forEach(out::string);
      return IDENTITY;
    }

    private void uuid(UniqueId id) {
      out.i64(id.high()).i64(id.low());
    }

    private void names(Collection<LockName> names) {
      out.i32(names.size());
      names.forEach(name -> out.string(name.value()));
    }
  }
}
