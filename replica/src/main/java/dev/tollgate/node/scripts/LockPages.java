package dev.tollgate.node.scripts;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import dev.tollgate.node.admin.AdminRequest;
import dev.tollgate.node.admin.Answer;
import dev.tollgate.store.h2.SqlValue;
import dev.tollgate.wire.SqlState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Takes, renews, releases and shows locks, by the lock functions of SQL. Thread-safe. */
final class LockPages {
  private static final Logger LOG = LoggerFactory.getLogger(LockPages.class);
  private static final int CONFLICT = 409;

  private static final String HOLDERS =
      "SELECT lock_mode, token, lease_id, owner, CAST(held_since AS VARCHAR), application,"
          + " client_host, waiters, kept FROM tollgate.locks WHERE lock_name = ? ORDER BY token";

  private final ScriptSessions sessions;

  LockPages(ScriptSessions sessions) {
    this.sessions = requireNonNull(sessions, "sessions");
  }

  /** The lock that a request names: what follows /v1/locks/, without its escapes. */
  private static String name(AdminRequest request) throws ScriptRefusal {
    String escaped = request.rest();
    if (escaped.isEmpty() || escaped.length() > ScriptLimits.NAME_CHARS) {
      throw ScriptRefusal.invalid("the path has to end with the name of a lock, in escapes");
    }
    if (escaped.indexOf('/') >= 0) {
      throw ScriptRefusal.invalid("a slash in the name of a lock is written as %2F");
    }
    // in a path a plus is a plus
    String name = Arguments.decoded(escaped.replace("+", "%2B"));
    if (name.length() > Limits.LOCK_NAME_CHARS) {
      throw ScriptRefusal.invalid(
          "the lock name has "
              + name.length()
              + " characters: at most "
              + Limits.LOCK_NAME_CHARS
              + " are allowed");
    }
    return name;
  }

  /** POST: the lease that is named, or a new one, acquires the lock. */
  Answer acquire(AdminRequest request) throws ScriptRefusal, LeaderMovedException {
    String lock = name(request);
    Arguments arguments = Arguments.ofBody(request, "lease", "ttl", "owner", "wait", "shared");
    Duration wait = arguments.time("wait", Duration.ZERO, ScriptLimits.WAIT);
    boolean shared = arguments.flag("shared");
    if (arguments.has("lease") == arguments.has("ttl")) {
      throw ScriptRefusal.invalid(
          "name either a \"lease\" that is to hold the lock, or the \"ttl\" of a new one");
    }
    if (arguments.has("lease")) {
      if (arguments.has("owner")) {
        throw ScriptRefusal.invalid(
            "\"owner\" is for a new lease: lease and ttl exclude each other");
      }
      long lease = arguments.lease();
      // what is granted to a client that is gone stays: the lease may have asked more than once
      return acquire(request, wait, connection -> acquire(connection, lock, lease, wait, shared));
    }
    Duration ttl = arguments.time("ttl");
    if (wait.compareTo(ttl) >= 0) {
      throw ScriptRefusal.invalid(
          "\"wait\" has to be shorter than \"ttl\": nothing renews the new lease while it waits");
    }
    String owner = arguments.has("owner") ? arguments.text("owner") : null;
    return acquire(
        request,
        wait,
        connection -> {
          long lease = LeasePages.create(connection, ttl, owner);
          return acquireWithNew(connection, lock, lease, wait, shared);
        });
  }

  private Answer acquire(AdminRequest request, Duration wait, ScriptSessions.Work work)
      throws ScriptRefusal, LeaderMovedException {
    return wait.isZero() ? sessions.shared(request, work) : sessions.waiting(request, work);
  }

  /** A lease that gets no lock is revoked: without the answer nobody knows the lease. */
  private static Answer acquireWithNew(
      ScriptConnection connection, String lock, long lease, Duration wait, boolean shared)
      throws ScriptRefusal {
    try {
      Answer answer = acquire(connection, lock, lease, wait, shared);
      if (answer.status() == CONFLICT) {
        revoke(connection, lease);
        return answer;
      }
      connection.requireClient();
      if (!wait.isZero()) {
        // the time of the lease began before the wait, and may be over
        var unused = LeasePages.renew(connection, lease);
      }
      return answer;
    } catch (ScriptRefusal e) {
      if (e.isUnknown() && !connection.isClientGone()) {
        throw ScriptRefusal.unknown(lease);
      }
      revoke(connection, lease);
      throw e;
    } catch (LeaderMovedException e) {
      throw ScriptRefusal.unknown(lease);
    }
  }

  /** Revokes a lease; if that fails, the lease expires by itself. */
  private static void revoke(ScriptConnection connection, long lease) {
    connection.serveNobody();
    if (!connection.isBroken()) {
      try {
        var unused = LeasePages.revoke(connection, lease);
      } catch (ScriptRefusal | LeaderMovedException e) {
        LOG.debug("lease {} is left to expire: {}", lease, e.getMessage());
      }
    }
  }

  private static Answer acquire(
      ScriptConnection connection, String lock, long lease, Duration wait, boolean shared)
      throws ScriptRefusal, LeaderMovedException {
    Object token =
        connection.call(
            shared ? "SELECT acquire_shared_lock(?, ?, ?)" : "SELECT acquire_lock(?, ?, ?)",
            Repeat.SAFE,
            wait,
            List.of(
                SqlValue.ofText(lock),
                SqlValue.ofNumber(lease),
                SqlValue.ofNumber(wait.toMillis())));
    Map<String, @Nullable Object> answer = new LinkedHashMap<>();
    answer.put("lock", lock);
    answer.put("lease", lease);
    answer.put("token", token);
    if (token == null) {
      String held = wait.isZero() ? "" : ", and held it for " + wait.toMillis() + " ms";
      answer.put("message", "others hold the lock" + held);
      return JsonWriter.answer(CONFLICT, answer);
    }
    return JsonWriter.answer(answer);
  }

  /** PUT: renews the lease if it holds the lock under the token. */
  Answer renew(AdminRequest request) throws ScriptRefusal, LeaderMovedException {
    String lock = name(request);
    Arguments arguments = Arguments.ofBody(request, "lease", "token");
    long lease = arguments.lease();
    long token = arguments.number("token");
    return sessions.shared(
        request,
        connection -> {
          Object left = LeasePages.renew(connection, lease);
          Object held =
              connection.call(
                  "SELECT holds_lock(?, ?)",
                  List.of(SqlValue.ofText(lock), SqlValue.ofNumber(token)));
          if (!Boolean.TRUE.equals(held)) {
            throw ScriptRefusal.of(
                SqlState.STALE_TOKEN,
                "lock '"
                    + lock
                    + "' is not held under token "
                    + token
                    + " any more: stop the work");
          }
          Map<String, @Nullable Object> answer = new LinkedHashMap<>();
          answer.put("lock", lock);
          answer.put("lease", lease);
          answer.put("token", token);
          answer.put("remaining_ms", left);
          return JsonWriter.answer(answer);
        });
  }

  /** DELETE: releases the lock, for a lease or by force. */
  Answer release(AdminRequest request) throws ScriptRefusal, LeaderMovedException {
    String lock = name(request);
    Arguments arguments = Arguments.ofQuery(request, "lease", "keep", "force");
    boolean force = arguments.flag("force");
    if (force == arguments.has("lease")) {
      throw ScriptRefusal.invalid(
          "name the lease that holds the lock, /v1/locks/NAME?lease=17, or take the lock away with"
              + " force=true");
    }
    if (force && arguments.has("keep")) {
      throw ScriptRefusal.invalid("\"keep\" and \"force\" exclude each other");
    }
    List<SqlValue> values = new ArrayList<>(List.of(SqlValue.ofText(lock)));
    if (!force) {
      values.add(SqlValue.ofNumber(arguments.lease()));
    }
    if (arguments.has("keep")) {
      values.add(SqlValue.ofNumber(arguments.time("keep").toMillis()));
    }
    String function =
        force
            ? "force_release_lock(?)"
            : values.size() == 2 ? "release_lock(?, ?)" : "release_lock(?, ?, ?)";
    // a second one would take the lock away from the next holder
    Repeat repeat = force ? Repeat.UNSAFE : Repeat.SAFE;
    return sessions.shared(
        request,
        connection -> {
          Map<String, @Nullable Object> answer = new LinkedHashMap<>();
          answer.put("lock", lock);
          answer.put(
              "released", connection.call("SELECT " + function, repeat, Duration.ZERO, values));
          return JsonWriter.answer(answer);
        });
  }

  /** GET: who holds the lock. */
  Answer read(AdminRequest request) throws ScriptRefusal, LeaderMovedException {
    String lock = name(request);
    var unused = Arguments.ofQuery(request);
    return sessions.shared(
        request,
        connection -> {
          // refuses a user without a right on the lock, for whom the view has no rows
          var unusedToken = connection.call("SELECT lock_token(?)", List.of(SqlValue.ofText(lock)));
          return JsonWriter.answer(
              described(
                  lock,
                  connection.rows(HOLDERS, List.of(SqlValue.ofText(lock)), ScriptLimits.LISTED)));
        });
  }

  private static Map<String, @Nullable Object> described(
      String lock, List<List<@Nullable Object>> rows) {
    List<@Nullable Object> holders = new ArrayList<>();
    boolean kept = false;
    Object waiters = 0L;
    for (List<@Nullable Object> row : rows) {
      waiters = requireNonNull(row.get(7));
      if (Boolean.TRUE.equals(row.get(8))) {
        kept = true;
        continue;
      }
      Map<String, @Nullable Object> holder = new LinkedHashMap<>();
      holder.put("mode", row.get(0));
      holder.put("token", row.get(1));
      holder.put("lease", row.get(2));
      holder.put("owner", row.get(3));
      holder.put("held_since", row.get(4));
      holder.put("application", row.get(5));
      holder.put("host", row.get(6));
      holders.add(holder);
    }
    Map<String, @Nullable Object> answer = new LinkedHashMap<>();
    answer.put("lock", lock);
    answer.put("held", !holders.isEmpty());
    answer.put("kept", kept);
    answer.put("waiters", waiters);
    answer.put("holders", holders);
    return answer;
  }
}
