package dev.tollgate.node.replica;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.ClusterState;
import dev.tollgate.core.Lease;
import dev.tollgate.core.Lock;
import dev.tollgate.core.Session;
import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.UserName;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * All locks and leases at one moment, for several viewers, each of whom sees what the views of
 * schema TOLLGATE would show. Takes a reference for each lock, lease and session while the state is
 * read; everything else happens later, on the threads of the viewers. Immutable.
 */
public final class LockPicture {
  /** A lease, and how many locks it held. */
  public record HoldingLease(Lease lease, int locks) {
    public HoldingLease {
      requireNonNull(lease, "lease");
    }
  }

  private final List<Lock> locks;
  private final List<HoldingLease> leases;
  private final Map<SessionId, ClientInfo> clients;
  private final Map<UserName, Visibility> viewers;

  private LockPicture(
      List<Lock> locks,
      List<HoldingLease> leases,
      Map<SessionId, ClientInfo> clients,
      Map<UserName, Visibility> viewers) {
    this.locks = locks;
    this.leases = leases;
    this.clients = clients;
    this.viewers = viewers;
  }

  /** What is taken while nothing is applied. */
  private record Copy(
      List<Lock> locks,
      List<HoldingLease> leases,
      List<Session> sessions,
      Map<UserName, Visibility> viewers) {
    static Copy of(ClusterState state, Set<UserName> users) {
      List<HoldingLease> leases = new ArrayList<>(state.leases().size());
      for (Lease lease : state.leases()) {
        leases.add(new HoldingLease(lease, lease.held().size()));
      }
      Map<UserName, Visibility> viewers = new HashMap<>();
      for (UserName user : users) {
        viewers.put(user, Visibility.of(state, user));
      }
      return new Copy(state.copyLocks(), leases, new ArrayList<>(state.sessions()), viewers);
    }
  }

  /**
   * Waits for the entry that is being applied, and takes the picture.
   *
   * @param ended whether nobody wants the picture any more
   * @throws java.util.concurrent.CancellationException once nobody does
   */
  public static LockPicture take(StateAccess state, Set<UserName> viewers, BooleanSupplier ended) {
    Copy copy = state.lookAlone(now -> Copy.of(now, viewers), ended);
    Map<SessionId, ClientInfo> clients = new HashMap<>();
    for (Session session : copy.sessions()) {
      clients.put(session.id(), session.client());
    }
    return new LockPicture(copy.locks(), copy.leases(), clients, copy.viewers());
  }

  /** All locks that were held or waited for. */
  public List<Lock> locks() {
    return locks;
  }

  /** All live leases, in order of creation. */
  public List<HoldingLease> leases() {
    return leases;
  }

  /** The client of a session, or null if the session had ended. */
  public @Nullable ClientInfo client(SessionId session) {
    return clients.get(session);
  }

  /** False if the picture was not taken for this viewer, who sees nothing of it. */
  public boolean isFor(UserName viewer) {
    return viewers.containsKey(viewer);
  }

  public boolean shows(UserName viewer, LockName lock) {
    Visibility seen = viewers.get(viewer);
    return seen != null && seen.shows(lock);
  }

  /** True if the viewer may see the tokens of the lock. */
  public boolean showsToken(UserName viewer, LockName lock) {
    Visibility seen = viewers.get(viewer);
    return seen != null && seen.showsToken(lock);
  }

  public boolean shows(UserName viewer, Lease lease) {
    Visibility seen = viewers.get(viewer);
    return seen != null && seen.shows(lease);
  }
}
