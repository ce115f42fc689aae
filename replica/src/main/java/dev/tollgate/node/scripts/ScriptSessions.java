package dev.tollgate.node.scripts;

import static java.util.Objects.requireNonNull;

import dev.tollgate.node.admin.AdminRequest;
import dev.tollgate.node.admin.Answer;
import dev.tollgate.node.client.ClientService;
import dev.tollgate.node.client.LoginProof;
import dev.tollgate.node.login.LoginMethod;
import dev.tollgate.wire.SqlState;
import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The sessions of scripts at this node, and the requests that wait for locks. Requests for locks
 * and leases leave nothing in a session, so those of one user at one host use one after the other.
 * A statement may leave something, and gets a session of its own. Thread-safe.
 */
final class ScriptSessions {
  /** What a request does with its session. */
  interface Work {
    Answer run(ScriptConnection connection) throws ScriptRefusal, LeaderMovedException;
  }

  /** Opens a session. */
  interface Opening {
    ScriptConnection open(AdminRequest request) throws ScriptRefusal, LeaderMovedException;
  }

  /** Whose session it is: the cluster shows both to those who ask who holds a lock. */
  private record Client(@Nullable String user, @Nullable LoginMethod method, InetAddress from) {
    static Client of(AdminRequest request) {
      LoginProof login = request.caller().login();
      return new Client(
          request.caller().user(), login == null ? null : login.method(), request.from());
    }
  }

  /** A session that nobody uses. */
  private record Idle(Client client, ScriptConnection connection) {}

  private final ScriptLimits limits;
  private final Opening opening;
  private final ReentrantLock mutex = new ReentrantLock();
  private final Deque<Idle> idle = new ArrayDeque<>();
  private final Map<String, Integer> waitsByUser = new HashMap<>();
  private int waits;

  ScriptSessions(ScriptLimits limits, ClientService clients) {
    this(
        limits,
        request -> ScriptConnection.open(clients, request.caller().login(), request.from()));
  }

  ScriptSessions(ScriptLimits limits, Opening opening) {
    this.limits = requireNonNull(limits, "limits");
    this.opening = requireNonNull(opening, "opening");
  }

  /** Does work that may wait for a lock, and leaves nothing behind in its session. */
  Answer waiting(AdminRequest request, Work work) throws ScriptRefusal, LeaderMovedException {
    String user = request.caller().user();
    countWait(user);
    try {
      return shared(request, work);
    } finally {
      endWait(user);
    }
  }

  /** Does work that leaves nothing behind in its session. */
  Answer shared(AdminRequest request, Work work) throws ScriptRefusal, LeaderMovedException {
    Client client = Client.of(request);
    ScriptConnection connection = take(client);
    if (connection == null) {
      connection = opening.open(request);
    }
    try {
      connection.serve(request.presence());
      return work.run(connection);
    } finally {
      connection.serveNobody();
      giveBack(client, connection);
    }
  }

  /** Does work in a session of its own, which ends with it. */
  Answer alone(AdminRequest request, Work work) throws ScriptRefusal, LeaderMovedException {
    try (ScriptConnection connection = opening.open(request)) {
      connection.serve(request.presence());
      return work.run(connection);
    }
  }

  private void countWait(@Nullable String user) throws ScriptRefusal {
    mutex.lock();
    try {
      if (waits >= limits.waits()) {
        throw full(limits.waits() + " requests of scripts");
      }
      if (user != null) {
        int ofUser = waitsByUser.getOrDefault(user, 0);
        if (ofUser >= limits.waitsPerUser()) {
          throw full(limits.waitsPerUser() + " requests of user '" + user + "'");
        }
        waitsByUser.put(user, ofUser + 1);
      }
      waits++;
    } finally {
      mutex.unlock();
    }
  }

  private static ScriptRefusal full(String requests) {
    return ScriptRefusal.of(
        SqlState.BUSY,
        "this node already has "
            + requests
            + " that wait for a lock, as many as it may: nothing was done; try again later, or"
            + " without a wait");
  }

  private void endWait(@Nullable String user) {
    mutex.lock();
    try {
      waits--;
      if (user != null) {
        waitsByUser.computeIfPresent(user, (name, count) -> count == 1 ? null : count - 1);
      }
    } finally {
      mutex.unlock();
    }
  }

  private @Nullable ScriptConnection take(Client client) {
    List<ScriptConnection> old = new ArrayList<>();
    ScriptConnection found = null;
    mutex.lock();
    try {
      for (Iterator<Idle> each = idle.iterator(); each.hasNext(); ) {
        Idle session = each.next();
        if (isOld(session.connection())) {
          each.remove();
          old.add(session.connection());
        } else if (found == null && session.client().equals(client)) {
          each.remove();
          found = session.connection();
        }
      }
    } finally {
      mutex.unlock();
    }
    old.forEach(ScriptConnection::close);
    return found;
  }

  private static boolean isOld(ScriptConnection connection) {
    return connection.age().compareTo(ScriptLimits.SESSION_USE) > 0;
  }

  private void giveBack(Client client, ScriptConnection connection) {
    ScriptConnection left = connection;
    mutex.lock();
    try {
      if (!connection.isBroken() && !isOld(connection)) {
        idle.addLast(new Idle(client, connection));
        left = idle.size() > limits.requests() ? idle.removeFirst().connection() : null;
      }
    } finally {
      mutex.unlock();
    }
    if (left != null) {
      left.close();
    }
  }
}
