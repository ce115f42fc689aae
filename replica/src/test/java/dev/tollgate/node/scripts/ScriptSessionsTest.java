package dev.tollgate.node.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tollgate.node.admin.AdminRequest;
import dev.tollgate.node.admin.Caller;
import dev.tollgate.node.admin.Presence;
import dev.tollgate.node.client.LoginProof;
import dev.tollgate.node.login.LoginMethod;
import dev.tollgate.node.replica.Duties;
import java.net.InetAddress;
import org.junit.jupiter.api.Test;

/**
 * How many requests wait for locks at a time: each one begins the next while it opens its session.
 */
class ScriptSessionsTest {
  private static final ScriptLimits LIMITS = new ScriptLimits(5, 3, 2);

  private int begun;

  private static AdminRequest request() {
    return new AdminRequest(
        "GET",
        "/v1/leases",
        "",
        "",
        new byte[0],
        new Caller(true, new LoginProof("A", 1, LoginMethod.SCRAM, null), Duties.NONE),
        InetAddress.getLoopbackAddress(),
        name -> null,
        new Presence());
  }

  private static String refusal(ScriptSessions sessions) {
    return assertThrows(ScriptRefusal.class, () -> sessions.waiting(request(), connection -> null))
        .getMessage();
  }

  @Test
  void waitsAreBounded() {
    ScriptSessions[] sessions = new ScriptSessions[1];
    sessions[0] =
        new ScriptSessions(
            LIMITS,
            request -> {
              begun++;
              sessions[0].waiting(request, connection -> null);
              throw new AssertionError("none is refused");
            });
    for (int i = 0; i < 2; i++) {
      begun = 0;
      assertEquals(
          "this node already has 2 requests of scripts that wait for a lock, as many as it may:"
              + " nothing was done; try again later, or without a wait",
          refusal(sessions[0]));
      assertEquals(2, begun, "all have left before");
    }
  }
}
