package dev.tollgate.simulation;

import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.RequestId;
import dev.tollgate.core.command.Right;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.UserName;
import dev.tollgate.node.replica.Replica;
import dev.tollgate.store.h2.SqlValue;
import dev.tollgate.wire.Frame;
import dev.tollgate.wire.Request;
import java.util.HashMap;
import java.util.Map;

/**
 * {@link Breakage#RIGHTS_CHECKED_ON_RECEIPT}: whether the user of a request for a lock had the
 * right when a leader got the request for the first time. All nodes of a run share it.
 */
final class RightsOnReceipt {
  private final Map<RequestId, Boolean> found = new HashMap<>();

  void received(SimulatedSession session, Frame frame, Replica replica) {
    String user = session.user();
    if (user == null
        || session.sessionId() == 0
        || frame.type() != 0x06
        || !(Request.read(frame) instanceof Request.Execute execute)
        || !execute.sql().contains("acquire_lock(")) {
      return;
    }
    String name = SqlValue.decode(execute.parameterSets().get(0)).get(0).textOrNull();
    if (name != null) {
      RequestId request = new RequestId(new SessionId(session.sessionId()), execute.sequence());
      found.putIfAbsent(request, mayAcquire(replica, new UserName(user), new LockName(name)));
    }
  }

  private static boolean mayAcquire(Replica replica, UserName user, LockName lock) {
    return replica
        .state()
        .look(
            state ->
                state.isAdministrator(user)
                    || state.rightsOf(user).stream()
                        .anyMatch(right -> right.kind() != Right.Kind.FORCE && right.isOn(lock)));
  }

  boolean hadRight(RequestId request) {
    return found.getOrDefault(request, false);
  }
}
