package dev.tollgate.node.scripts;

import static java.util.Objects.requireNonNull;

import dev.tollgate.node.admin.Answer;
import dev.tollgate.node.admin.Caller;
import dev.tollgate.node.admin.Route;
import dev.tollgate.wire.SqlState;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Bounds the requests of scripts that are under way, of all users and of each. Thread-safe. */
final class ScriptGate implements Route.Gate {
  private final ScriptLimits limits;
  private final Map<String, Integer> byUser = new HashMap<>();
  private int requests;

  ScriptGate(ScriptLimits limits) {
    this.limits = requireNonNull(limits, "limits");
  }

  @Override
  public synchronized @Nullable Answer enter(Caller caller) {
    if (requests >= limits.requests()) {
      return full(limits.requests() + " requests of scripts");
    }
    String user = caller.user();
    if (user != null) {
      int ofUser = byUser.getOrDefault(user, 0);
      if (ofUser >= limits.requestsPerUser()) {
        return full(limits.requestsPerUser() + " requests of user '" + user + "'");
      }
      byUser.put(user, ofUser + 1);
    }
    requests++;
    return null;
  }

  private static Answer full(String requests) {
    return ScriptRefusal.of(
            SqlState.BUSY,
            "this node already serves "
                + requests
                + ", as many as it may: nothing was done; try again later")
        .answer();
  }

  @Override
  public synchronized void leave(Caller caller) {
    requests--;
    String user = caller.user();
    if (user != null) {
      byUser.computeIfPresent(user, (name, count) -> count == 1 ? null : count - 1);
    }
  }
}
