package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.UserName;
import dev.tollgate.node.replica.Facts;
import dev.tollgate.node.replica.TimeKeeper;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Which processes have connections to this node. The operating system ends the connections of a
 * process with the process. So when a client has ended the last connection of its process, the time
 * keeper is told: it ends the open transactions of the process, unless the process comes back. A
 * process with connections has also shown itself to a new leader. Thread-safe.
 *
 * <p>A client may name the process of another user. It can keep the transactions of that process
 * open, as if the process were connected; it can end none.
 */
final class ClientProcesses {
  private record Key(String host, String process) {
    static Key of(ClientInfo client) {
      return new Key(client.host(), client.process());
    }
  }

  /** A process with connections. */
  private static final class Present {
    int connections;

    /** The users whose clients have ended connections since the process came. */
    final Set<UserName> leaving = new HashSet<>();
  }

  private final TimeKeeper timeKeeper;
  private final Facts facts;
  private final Workers workers;
  private final Map<Key, Present> present = new HashMap<>();
  private final Set<Visit> visits = ConcurrentHashMap.newKeySet();

  ClientProcesses(TimeKeeper timeKeeper, Facts facts, Workers workers) {
    this.timeKeeper = requireNonNull(timeKeeper, "timeKeeper");
    this.facts = requireNonNull(facts, "facts");
    this.workers = requireNonNull(workers, "workers");
    timeKeeper.askWhetherConnected(this::isConnected);
  }

  /**
   * A connection that has just been made.
   *
   * @param session which session the connection has
   */
  Visit visit(Supplier<@Nullable SessionId> session) {
    return new Visit(session);
  }

  /** One connection. The transport calls it as it does {@link ClientConnection}. */
  final class Visit {
    private final Supplier<@Nullable SessionId> session;
    private UserName user = UserName.ANONYMOUS;
    private @Nullable ClientInfo client;

    private Visit(Supplier<@Nullable SessionId> session) {
      this.session = requireNonNull(session, "session");
    }

    /** The client is known, and is served. A client that does not name its process never leaves. */
    void begin(@Nullable String userName, ClientInfo info) {
      if (client == null && !info.process().isEmpty()) {
        user = SessionRequests.nameOf(userName);
        client = info;
        visits.add(this);
        came(info);
      }
    }

    /**
     * The connection has ended.
     *
     * @param byClient false if this node ended it, or the network: the process may be well
     */
    void end(boolean byClient) {
      ClientInfo known = client;
      if (known != null) {
        client = null;
        visits.remove(this);
        Set<UserName> users = went(known, byClient ? user : null);
        if (!users.isEmpty()) {
          long leavingNanos = timeKeeper.now();
          workers.chore(() -> users.forEach(one -> left(one, known, leavingNanos)));
        }
      }
    }
  }

  private synchronized void came(ClientInfo client) {
    present.computeIfAbsent(Key.of(client), any -> new Present()).connections++;
  }

  /**
   * A connection of the process has ended.
   *
   * @param leaving the user who has ended it; null if it was not the client
   * @return whose clients have left, if that was the last connection
   */
  private synchronized Set<UserName> went(ClientInfo client, @Nullable UserName leaving) {
    Present process = requireNonNull(present.get(Key.of(client)), "process");
    if (leaving != null) {
      process.leaving.add(leaving);
    }
    process.connections--;
    if (process.connections > 0) {
      return Set.of();
    }
    present.remove(Key.of(client));
    return leaving == null ? Set.of() : process.leaving;
  }

  private synchronized boolean isGone(ClientInfo client) {
    return !present.containsKey(Key.of(client));
  }

  /** Whether the process that has opened a session, or one that has attached it, is connected. */
  private boolean isConnected(SessionId session) {
    ClientInfo client = facts.clientOf(session);
    return (client != null && !isGone(client))
        || visits.stream().anyMatch(visit -> session.equals(visit.session.get()));
  }

  private void left(UserName user, ClientInfo client, long leavingNanos) {
    List<SessionId> sessions = new ArrayList<>(facts.sessionsOf(user, client));
    if (!sessions.isEmpty()) {
      // another process may have attached one
      Set<@Nullable SessionId> used = new HashSet<>();
      visits.forEach(visit -> used.add(visit.session.get()));
      sessions.removeAll(used);
      timeKeeper.left(sessions, leavingNanos, () -> isGone(client));
    }
  }
}
