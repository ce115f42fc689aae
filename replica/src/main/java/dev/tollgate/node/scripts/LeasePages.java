package dev.tollgate.node.scripts;

import static java.util.Objects.requireNonNull;

import dev.tollgate.node.admin.AdminRequest;
import dev.tollgate.node.admin.Answer;
import dev.tollgate.store.h2.SqlValue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Creates, renews, revokes and lists leases, by the lease functions of SQL. Thread-safe. */
final class LeasePages {
  private static final int CREATED = 201;

  private static final String LEASES =
      "SELECT lease_id, owner, ttl_ms, remaining_ms, CAST(created_at AS VARCHAR), locks_held,"
          + " connection_own, user_name FROM tollgate.leases WHERE lease_id ";

  private static final List<String> MEMBERS =
      List.of(
          "lease",
          "owner",
          "ttl_ms",
          "remaining_ms",
          "created_at",
          "locks_held",
          "connection_own",
          "user");

  private final ScriptSessions sessions;

  LeasePages(ScriptSessions sessions) {
    this.sessions = requireNonNull(sessions, "sessions");
  }

  private static long id(AdminRequest request) throws ScriptRefusal {
    String digits = request.rest();
    if (!digits.matches("[0-9]{1,18}")) {
      throw ScriptRefusal.invalid("the path has to end with the number of a lease");
    }
    return Long.parseLong(digits);
  }

  /** POST: a lease that lives for its ttl after each renewal. */
  Answer create(AdminRequest request) throws ScriptRefusal, LeaderMovedException {
    Arguments arguments = Arguments.ofBody(request, "ttl", "owner");
    Duration ttl = arguments.time("ttl");
    String owner = arguments.has("owner") ? arguments.text("owner") : null;
    return sessions.shared(
        request,
        connection -> {
          Map<String, @Nullable Object> answer = new LinkedHashMap<>();
          answer.put("lease", create(connection, ttl, owner));
          answer.put("ttl_ms", ttl.toMillis());
          return JsonWriter.answer(CREATED, answer);
        });
  }

  /** Creates a lease and returns its number. */
  static long create(ScriptConnection connection, Duration ttl, @Nullable String owner)
      throws ScriptRefusal, LeaderMovedException {
    SqlValue millis = SqlValue.ofNumber(ttl.toMillis());
    Object lease =
        owner == null
            ? connection.call("SELECT create_lease(?)", List.of(millis))
            : connection.call("SELECT create_lease(?, ?)", List.of(millis, SqlValue.ofText(owner)));
    return (Long) requireNonNull(lease, "lease");
  }

  /** Renews a lease and returns how many milliseconds it has left. */
  static @Nullable Object renew(ScriptConnection connection, long lease)
      throws ScriptRefusal, LeaderMovedException {
    return connection.call("SELECT renew_lease(?)", List.of(SqlValue.ofNumber(lease)));
  }

  /** Ends a lease, releases its locks, and returns whether it was alive. */
  static @Nullable Object revoke(ScriptConnection connection, long lease)
      throws ScriptRefusal, LeaderMovedException {
    return connection.call("SELECT revoke_lease(?)", List.of(SqlValue.ofNumber(lease)));
  }

  /** PUT: renews a lease. */
  Answer renew(AdminRequest request) throws ScriptRefusal, LeaderMovedException {
    long lease = id(request);
    var unused = Arguments.ofBody(request);
    return sessions.shared(
        request,
        connection -> {
          Map<String, @Nullable Object> answer = new LinkedHashMap<>();
          answer.put("lease", lease);
          answer.put("remaining_ms", renew(connection, lease));
          return JsonWriter.answer(answer);
        });
  }

  /** DELETE: ends a lease, and releases its locks. */
  Answer revoke(AdminRequest request) throws ScriptRefusal, LeaderMovedException {
    long lease = id(request);
    var unused = Arguments.ofQuery(request);
    return sessions.shared(
        request,
        connection -> {
          Map<String, @Nullable Object> answer = new LinkedHashMap<>();
          answer.put("lease", lease);
          answer.put("revoked", revoke(connection, lease));
          return JsonWriter.answer(answer);
        });
  }

  /** GET: a lease. */
  Answer read(AdminRequest request) throws ScriptRefusal, LeaderMovedException {
    long lease = id(request);
    var unused = Arguments.ofQuery(request);
    return sessions.shared(
        request,
        connection -> {
          List<Map<String, @Nullable Object>> found =
              rows(connection, LEASES + "= ?", lease, /* most= */ 1);
          if (found.isEmpty()) {
            throw ScriptRefusal.notFound(
                "there is no lease " + lease + " any more, or none that this user may see");
          }
          return JsonWriter.answer(found.get(0));
        });
  }

  /** GET: the leases that the user may see, in the order of their numbers. */
  Answer list(AdminRequest request) throws ScriptRefusal, LeaderMovedException {
    Arguments arguments = Arguments.ofQuery(request, "after", "limit");
    long after = arguments.has("after") ? arguments.number("after") : 0;
    int limit = arguments.count("limit", ScriptLimits.LISTED, ScriptLimits.LISTED);
    return sessions.shared(
        request,
        connection -> {
          List<Map<String, @Nullable Object>> found =
              rows(connection, LEASES + "> ? ORDER BY lease_id", after, limit + 1);
          boolean more = found.size() > limit;
          List<Map<String, @Nullable Object>> shown = more ? found.subList(0, limit) : found;
          Map<String, @Nullable Object> answer = new LinkedHashMap<>();
          answer.put("leases", shown);
          answer.put("next_after", more ? shown.get(limit - 1).get("lease") : null);
          return JsonWriter.answer(answer);
        });
  }

  private static List<Map<String, @Nullable Object>> rows(
      ScriptConnection connection, String sql, long number, int most)
      throws ScriptRefusal, LeaderMovedException {
    List<Map<String, @Nullable Object>> leases = new ArrayList<>();
    for (List<@Nullable Object> row :
        connection.rows(sql, List.of(SqlValue.ofNumber(number)), most)) {
      Map<String, @Nullable Object> lease = new LinkedHashMap<>();
      for (int i = 0; i < MEMBERS.size(); i++) {
        lease.put(MEMBERS.get(i), row.get(i));
      }
      leases.add(lease);
    }
    return leases;
  }
}
