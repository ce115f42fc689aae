package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.Hold;
import dev.tollgate.core.Lease;
import dev.tollgate.core.Lock;
import dev.tollgate.core.LockTallies;
import dev.tollgate.core.Waiter;
import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.LeaseKind;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.UserName;
import dev.tollgate.log.LogStatus;
import dev.tollgate.node.replica.Duties;
import dev.tollgate.node.replica.LockPicture;
import dev.tollgate.node.replica.ReplicaFigures;
import java.net.InetAddress;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What one viewer is shown of a picture, as JSON. Each list has a maximum, and says how much it
 * leaves out. docs/operations.md describes it. Made for one answer, by one thread.
 */
final class ConsoleView {
  private static final long MICROS = 1_000;

  /**
   * What is the same in all pictures.
   *
   * @param remainingMillis how long a lease still has, or null if this node does not know
   * @param addresses where clients reach each node
   */
  record Node(
      String nodeId,
      String version,
      Function<LeaseId, @Nullable Long> remainingMillis,
      Map<String, String> addresses,
      List<String> obstacles) {
    Node {
      addresses = Map.copyOf(addresses);
      obstacles = List.copyOf(obstacles);
      requireNonNull(nodeId, "nodeId");
      requireNonNull(version, "version");
      requireNonNull(remainingMillis, "remainingMillis");
    }
  }

  private final Node node;
  private final ConsolePicture picture;
  private final LockPicture locks;
  private final Caller caller;
  private final InetAddress client;
  private final UserName viewer;
  private final String search;
  private final String wanted;
  private final ConsoleJson json = new ConsoleJson();
  private int rows = ConsoleLimits.HOLDS_AND_WAITS;

  /**
   * @param client where the connection of the caller comes from
   * @param search part of the names of the locks that are shown; empty for all
   */
  ConsoleView(Node node, ConsolePicture picture, Caller caller, InetAddress client, String search) {
    this.node = requireNonNull(node, "node");
    this.picture = requireNonNull(picture, "picture");
    this.locks = picture.locks();
    this.caller = requireNonNull(caller, "caller");
    this.client = requireNonNull(client, "client");
    this.viewer = viewer(caller);
    this.search = requireNonNull(search, "search");
    this.wanted = search.toLowerCase(Locale.ROOT);
  }

  /** As whom a caller looks at the state, and changes it. */
  static UserName viewer(Caller caller) {
    String user = caller.user();
    return user == null ? UserName.ANONYMOUS : new UserName(user);
  }

  /** The JSON; call it once. */
  String text() {
    json.open('{').member("timeMillis", (Long) picture.wallMillis()).member("search", search);
    Duties duties = caller.duties();
    json.open("viewer", '{')
        .member("user", caller.user())
        .member("administrator", duties.administers())
        .member("auditor", duties.audits())
        .member("lockManager", duties.managesLocks())
        .member("mayChange", duties.managesLocks() && picture.leading())
        .close('}');
    addNode();
    ConsoleMembers.write(
        json, new MemberUrls(picture.status(), picture.adminUrls()), client, node.addresses());
    addTotals();
    addLocks();
    addLeases();
    addRefusedWrites();
    return json.close('}').toString();
  }

  private void addNode() {
    LogStatus status = picture.status();
    json.open("node", '{')
        .member("id", node.nodeId())
        .member("version", node.version())
        .member("role", status.role().name())
        .member("leader", status.leaderId())
        .member("leading", picture.leading())
        .member("term", (Long) status.term())
        .member("appliedIndex", (Long) status.lastAppliedIndex())
        .open("obstacles", '[');
    node.obstacles().forEach(json::element);
    json.close(']').close('}');
  }

  private void addTotals() {
    ReplicaFigures figures = picture.figures();
    if (figures == null) {
      return;
    }
    json.open("totals", '{')
        .member("holds", (Long) (long) figures.heldLocks())
        .member("waits", (Long) (long) figures.waits())
        .member("leases", (Long) (long) figures.leases())
        .member("sessions", (Long) (long) figures.sessions())
        .member("transactions", (Long) (long) figures.transactions())
        .member("expiredLeases", (Long) figures.locks().expiredLeases())
        .close('}');
  }

  private void addLocks() {
    ConsoleSelection found = new ConsoleSelection(ConsoleLimits.LOCKS);
    for (Lock lock : locks.locks()) {
      if (isWanted(lock.name()) && locks.shows(viewer, lock.name())) {
        found.add(lock);
      }
    }
    json.member("matchingLocks", (Long) found.added()).open("locks", '[');
    found.best().forEach(this::addLock);
    json.close(']');
  }

  private boolean isWanted(LockName name) {
    return wanted.isEmpty() || name.value().toLowerCase(Locale.ROOT).contains(wanted);
  }

  private void addLock(Lock lock) {
    Collection<Hold> holds = lock.holds();
    json.open('{')
        .member("name", lock.name().value())
        .member("mode", lock.mode().name())
        .member("holders", (Long) (long) holds.size())
        .member("waiters", (Long) (long) lock.waiters().size())
        .open("holds", '[');
    boolean tokens = locks.showsToken(viewer, lock.name());
    holds.stream().limit(room()).forEach(hold -> addHold(hold, tokens));
    json.close(']').open("queue", '[');
    lock.waiters().stream().limit(room()).forEach(this::addWaiter);
    json.close(']').close('}');
  }

  private int room() {
    return Math.min(ConsoleLimits.OF_ONE_LOCK, rows);
  }

  private void addHold(Hold hold, boolean tokens) {
    rows--;
    Lease lease = hold.lease();
    json.open('{')
        .member("token", tokens ? String.valueOf(hold.token().value()) : null)
        .member("sinceMillis", (Long) (hold.sinceMicros() / MICROS))
        .member("kept", hold.onlyKeeps())
        .member("releasable", isReleasable(lease));
    addLeaseOf(lease);
    addClient(hold.session());
    json.close('}');
  }

  /** Whether a lease is one that clients have, and not a transaction or a statement. */
  private static boolean isReleasable(Lease lease) {
    return lease.kind() == LeaseKind.CLIENT || lease.kind() == LeaseKind.OWN;
  }

  private void addLeaseOf(Lease lease) {
    json.member("lease", String.valueOf(lease.id().value()))
        .member("kind", lease.kind().name())
        .member("owner", lease.owner())
        .member("user", lease.user().equals(UserName.ANONYMOUS) ? null : lease.user().value())
        .member("remainingMillis", node.remainingMillis().apply(lease.id()));
  }

  private void addClient(SessionId session) {
    ClientInfo client = locks.client(session);
    json.member("session", String.valueOf(session.value()))
        .member("application", client == null ? null : client.application())
        .member("host", client == null ? null : client.host())
        .member("process", client == null ? null : client.process());
  }

  private void addWaiter(Waiter waiter) {
    rows--;
    json.open('{')
        .member("mode", waiter.mode().name())
        .member("sinceMillis", (Long) (waiter.sinceMicros() / MICROS))
        .member("waitMillis", (Long) waiter.waitMillis());
    addLeaseOf(waiter.lease());
    addClient(waiter.request().session());
    json.open("together", '[');
    waiter.together().stream()
        .filter(name -> locks.shows(viewer, name))
        .limit(ConsoleLimits.TOGETHER)
        .forEach(name -> json.element(name.value()));
    json.close(']').close('}');
  }

  private void addLeases() {
    long matching = 0;
    json.open("leases", '[');
    for (LockPicture.HoldingLease holding : locks.leases()) {
      Lease lease = holding.lease();
      if (locks.shows(viewer, lease)) {
        matching++;
        if (matching <= ConsoleLimits.LEASES) {
          json.open('{')
              .member("locks", (Long) (long) holding.locks())
              .member("createdMillis", (Long) (lease.createdMicros() / MICROS))
              .member("ttlMillis", (Long) lease.ttlMillis());
          addLeaseOf(lease);
          json.close('}');
        }
      }
    }
    json.close(']').member("matchingLeases", (Long) matching);
  }

  private void addRefusedWrites() {
    ReplicaFigures figures = picture.figures();
    List<LockTallies.TableCount> refused =
        figures == null ? Collections.emptyList() : figures.locks().refusedWrites();
    json.open("refusedWrites", '[');
    for (LockTallies.TableCount table : refused) {
      json.open('{')
          .member("table", table.table())
          .member("count", (Long) table.refused())
          .close('}');
    }
    json.close(']');
  }
}
