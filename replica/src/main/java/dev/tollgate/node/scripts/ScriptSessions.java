package dev.tollgate.node.scripts;

import static java.util.Objects.requireNonNull;

import dev.tollgate.node.admin.AdminRequest;
import dev.tollgate.node.admin.Answer;
import dev.tollgate.node.client.ClientService;
import dev.tollgate.wire.SqlState;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The sessions of scripts at this node. Counts requests, of all users and of each, and requests
 * that wait for locks. Requests for locks and leases leave nothing in a session, so they use one
 * after the other; a statement may, and gets a session of its own. Thread-safe.
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

  /** A session that nobody uses. */
  private record Idle(@Nullable String user, ScriptConnection connection) {}

  private final ScriptLimits limits;
  private final Opening opening;
  private final ReentrantLock mutex = new ReentrantLock();
  private final Deque<Idle> idle = new ArrayDeque<>();
  private final Map<String, Integer> byUser = new HashMap<>();
  private int requests;
  private int waits;

  ScriptSessions(ScriptLimits limits, ClientService clients) {
    this(
        limits, request -> ScriptConnection.open(clients, request.caller().user(), request.from()));
  }

  ScriptSessions(ScriptLimits limits, Opening opening) {
    this.limits = requireNonNull(limits, "limits");
    this.opening = requireNonNull(opening, "opening");
  }

  /** Does work that leaves nothing behind in its session. */
  Answer shared(AdminRequest request, boolean waiting, Work work)
      throws ScriptRefusal, LeaderMovedException {
    String user = request.caller().user();
    enter(user, waiting);
    ScriptConnection connection = null;
    try {
      connection = take(user);
      if (connection == null) {
        connection = opening.open(request);
      }
      return work.run(connection);
    } finally {
      leave(user, waiting);
      if (connection != null) {
        giveBack(user, connection);
      }
    }
  }

  /** Does work in a session of its own, which ends with it. */
  Answer alone(AdminRequest request, Work work) throws ScriptRefusal, LeaderMovedException {
    String user = request.caller().user();
    enter(user, /* waiting= */ false);
    try (ScriptConnection connection = opening.open(request)) {
      return work.run(connection);
    } finally {
      leave(user, /* waiting= */ false);
    }
  }

  private void enter(@Nullable String user, boolean waiting) throws ScriptRefusal {
    mutex.lock();
    try {
      if (requests >= limits.requests()) {
        throw full("serves " + limits.requests() + " requests of scripts");
      }
      int ofUser = user == null ? 0 : byUser.getOrDefault(user, 0);
      if (ofUser >= limits.requestsPerUser()) {
        throw full("serves " + limits.requestsPerUser() + " requests of user '" + user + "'");
      }
      if (waiting && waits >= limits.waits()) {
        throw full("has " + limits.waits() + " requests of scripts that wait for a lock");
      }
      requests++;
      waits += waiting ? 1 : 0;
      if (user != null) {
        byUser.put(user, ofUser + 1);
      }
    } finally {
      mutex.unlock();
    }
  }

  private static ScriptRefusal full(String what) {
    return ScriptRefusal.of(
        SqlState.BUSY,
        "this node already " + what + ", as many as it may: nothing was done; try again later");
  }

  private void leave(@Nullable String user, boolean waiting) {
    mutex.lock();
    try {
      requests--;
      waits -= waiting ? 1 : 0;
      if (user != null) {
        byUser.computeIfPresent(user, (name, count) -> count == 1 ? null : count - 1);
      }
    } finally {
      mutex.unlock();
    }
  }

  private @Nullable ScriptConnection take(@Nullable String user) {
    List<ScriptConnection> old = new ArrayList<>();
    ScriptConnection found = null;
    mutex.lock();
    try {
      for (Iterator<Idle> each = idle.iterator(); each.hasNext(); ) {
        Idle session = each.next();
        if (isOld(session.connection())) {
          each.remove();
          old.add(session.connection());
        } else if (found == null && Objects.equals(user, session.user())) {
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

  private void giveBack(@Nullable String user, ScriptConnection connection) {
    ScriptConnection left = connection;
    mutex.lock();
    try {
      if (!connection.isBroken() && !isOld(connection)) {
        idle.addLast(new Idle(user, connection));
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
