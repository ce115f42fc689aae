package dev.tollgate.node.replica;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.ClusterState;
import dev.tollgate.core.Lease;
import dev.tollgate.core.Session;
import dev.tollgate.core.Transaction;
import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.FeatureLevels;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.Notice;
import dev.tollgate.core.command.RequestId;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TimeZoneName;
import dev.tollgate.core.command.UniqueId;
import dev.tollgate.core.command.UserAccount;
import dev.tollgate.core.command.UserName;
import dev.tollgate.wire.PasswordVerifier;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The part of the replicated state that can be read at any time, even while an entry is applied. It
 * serves the threads on which all clients of a node depend. The apply thread keeps it up to date.
 */
public final class Facts {
  /**
   * A session at some moment.
   *
   * @param secret what a client must show to use the session
   * @param user whose session it is
   * @param schema where unqualified names are looked up
   * @param timeZone in which its statements run
   * @param lockTimeoutMillis how long its statements wait for rows
   * @param begunMicros log time at which the open transaction began, microseconds since 1970; null
   *     if none is open
   * @param lostTransaction why its last transaction was rolled back, if its client does not know
   *     yet; else null
   */
  public record SessionFacts(
      long secret,
      UserName user,
      String schema,
      TimeZoneName timeZone,
      long lockTimeoutMillis,
      @Nullable Long begunMicros,
      @Nullable String lostTransaction) {
    public SessionFacts {
      requireNonNull(schema, "schema");
      requireNonNull(timeZone, "timeZone");
    }

    /** Returns true if a transaction is open. */
    public boolean inTransaction() {
      return begunMicros != null;
    }

    /** False if no client can use the session, because it comes from a restored backup. */
    public boolean isUsable() {
      return secret != Command.OpenSession.NO_SECRET;
    }

    /** Returns true if a client that shows this secret may use the session. */
    public boolean admits(long shown) {
      return isUsable() && secret == shown;
    }

    private static SessionFacts of(Session session) {
      // the core reports a lost transaction before it ends that transaction: read in this order, no
      // loss is missed
      Transaction transaction = session.transaction();
      return new SessionFacts(
          session.secret(),
          session.user(),
          session.schema(),
          session.timeZone(),
          session.lockTimeoutMillis(),
          transaction == null ? null : (Long) transaction.openedMicros(),
          session.lostTransaction());
    }
  }

  /**
   * A user, as logins need it. Verifiers are read once and not for each login: a login of a user
   * that does not exist would take less time.
   *
   * @param passwords the verifiers of the valid passwords
   */
  public record KnownUser(UserAccount account, List<PasswordVerifier> passwords) {
    public KnownUser {
      passwords = List.copyOf(passwords);
    }

    static KnownUser of(UserAccount account) {
      try {
        return new KnownUser(
            account, account.verifiers().stream().map(PasswordVerifier::parse).toList());
      } catch (IllegalArgumentException e) {
        // what no node has made is no password, and no reason to stop
        return new KnownUser(account, List.of());
      }
    }
  }

  private static final UniqueId NO_SECRET = new UniqueId(0, 0);

  private final Map<SessionId, Session> sessions = new ConcurrentHashMap<>();

  /** The users of live leases, where that is not {@link UserName#ANONYMOUS}. */
  private final Map<LeaseId, UserName> leaseUsers = new ConcurrentHashMap<>();

  private volatile SortedMap<String, String> nodes = Collections.emptySortedMap();
  private volatile Map<UserName, KnownUser> users = Map.of();

  /** Of users that are no administrators, and have any. */
  private volatile Map<UserName, Duties> duties = Map.of();

  private volatile UniqueId loginSecret = NO_SECRET;
  private volatile long lastLease;
  private volatile int featureLevel = FeatureLevels.FIRST;
  private volatile long logTimeMicros;

  Facts() {}

  /** A session, or null if it has not been opened here yet, has expired or was closed. */
  public @Nullable SessionFacts session(SessionId id) {
    Session found = sessions.get(id);
    return found == null ? null : SessionFacts.of(found);
  }

  /** Which client has opened a session; null if the session is not known. */
  public @Nullable ClientInfo clientOf(SessionId id) {
    Session found = sessions.get(id);
    return found == null ? null : found.client();
  }

  /** The sessions that this process of the user has opened. */
  public List<SessionId> sessionsOf(UserName user, ClientInfo process) {
    List<SessionId> found = new ArrayList<>();
    for (Session session : sessions.values()) {
      if (session.user().equals(user) && session.client().isOfProcess(process)) {
        found.add(session.id());
      }
    }
    return found;
  }

  /** True if a request of this session with this number, or a later one, was applied here. */
  public boolean hasReached(RequestId request) {
    Session found = sessions.get(request.session());
    return found != null && found.lastSequence() >= request.sequence();
  }

  /** True if the session has a transaction open, whose rows its queries have to see. */
  public boolean isInTransaction(SessionId id) {
    SessionFacts found = session(id);
    return found != null && found.inTransaction();
  }

  /** False if a lease of this id is another user's, and the user may not manage all leases. */
  public boolean mayRenew(UserName user, LeaseId id) {
    UserName owner = leaseUsers.get(id);
    return owner == null || owner.equals(user) || duties(user).managesLocks();
  }

  /** False if a session of this id is another user's, and the user is no administrator. */
  public boolean mayRenew(UserName user, SessionId id) {
    Session found = sessions.get(id);
    return found == null || found.user().equals(user) || isAdministrator(user);
  }

  /** Where clients reach each node, host:port by node id, of the nodes that have announced it. */
  public SortedMap<String, String> nodes() {
    return nodes;
  }

  /** See {@link ClusterState#featureLevel}. */
  public int featureLevel() {
    return featureLevel;
  }

  /**
   * The time of the last entry that was applied here, microseconds since 1970; 0 before the first.
   */
  public long logTimeMicros() {
    return logTimeMicros;
  }

  void setLogTime(long micros) {
    logTimeMicros = micros;
  }

  /** A user, or null if there is no user of this name. */
  public @Nullable UserAccount user(UserName name) {
    KnownUser known = users.get(name);
    return known == null ? null : known.account();
  }

  /** As {@link #user}, with what a login needs. */
  public @Nullable KnownUser knownUser(UserName name) {
    return users.get(name);
  }

  /** See {@link ClusterState#loginSecret}. */
  public UniqueId loginSecret() {
    return loginSecret;
  }

  /** True if clients have to say who they are. */
  public boolean hasUsers() {
    return !users.isEmpty();
  }

  /** True if there is such a user, and it may log in by the time of the log here. */
  public boolean mayLogIn(UserName name) {
    UserAccount account = user(name);
    return account != null && account.closed(logTimeMicros) == null;
  }

  /** True if the user may do what only administrators may. */
  public boolean isAdministrator(UserName name) {
    UserAccount account = user(name);
    return account == null ? name.equals(UserName.ANONYMOUS) : account.administrator();
  }

  /** What the user may do with what is not its own. */
  public Duties duties(UserName name) {
    return isAdministrator(name) ? Duties.ALL : duties.getOrDefault(name, Duties.NONE);
  }

  /** True if a lease of this id exists or has existed. */
  public boolean leaseExisted(LeaseId id) {
    return id.value() <= lastLease;
  }

  /** Updates the facts after a command. */
  void noticed(Notice notice, ClusterState state) {
    if (notice instanceof Notice.SessionStarted started) {
      Session session = state.session(started.session());
      if (session != null) {
        sessions.put(session.id(), session);
      }
    } else if (notice instanceof Notice.SessionEnded ended) {
      sessions.remove(ended.session());
    } else if (notice instanceof Notice.LeaseStarted started) {
      lastLease = started.lease().value();
      takeUser(state.lease(started.lease()));
    } else if (notice instanceof Notice.LeaseEnded ended) {
      leaseUsers.remove(ended.lease());
    } else if (notice instanceof Notice.UsersChanged) {
      takeUsers(state);
    } else if (notice instanceof Notice.FeatureLevelRaised raised) {
      featureLevel = raised.level();
    } else if (notice instanceof Notice.ClusterChanged) {
      nodes = copyOf(state.nodes());
    }
  }

  private void takeUser(@Nullable Lease lease) {
    if (lease != null && !lease.user().equals(UserName.ANONYMOUS)) {
      leaseUsers.put(lease.id(), lease.user());
    }
  }

  /** Replaces the facts with the facts of another state. */
  void restored(ClusterState state) {
    sessions.clear();
    leaseUsers.clear();
    state.leases().forEach(this::takeUser);
    state.sessions().forEach(session -> sessions.put(session.id(), session));
    nodes = copyOf(state.nodes());
    featureLevel = state.featureLevel();
    takeUsers(state);
    lastLease = state.lastLease();
  }

  private void takeUsers(ClusterState state) {
    Map<UserName, KnownUser> former = users;
    Map<UserName, KnownUser> all = new HashMap<>();
    for (UserAccount account : state.users()) {
      KnownUser known = former.get(account.name());
      boolean same = known != null && known.account().equals(account);
      all.put(account.name(), same ? known : KnownUser.of(account));
    }
    UniqueId secret = state.loginSecret();
    loginSecret = secret == null ? NO_SECRET : secret;
    users = all;
    duties = dutiesIn(state);
  }

  private static Map<UserName, Duties> dutiesIn(ClusterState state) {
    Map<UserName, Duties> all = new HashMap<>();
    if (state.rights().stream().anyMatch(right -> right.kind().isOnAll())) {
      for (UserAccount account : state.users()) {
        Duties some = Duties.of(state.rightsOf(account.name()));
        if (!some.equals(Duties.NONE)) {
          all.put(account.name(), some);
        }
      }
    }
    return all;
  }

  private static SortedMap<String, String> copyOf(SortedMap<String, String> map) {
    return Collections.unmodifiableSortedMap(new TreeMap<>(map));
  }
}
