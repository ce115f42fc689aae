package dev.tollgate.node.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tollgate.node.admin.AdminRequest;
import dev.tollgate.node.admin.Caller;
import java.net.InetAddress;
import org.junit.jupiter.api.Test;

/**
 * How many requests are under way at a time: each one begins the next while it opens its session.
 */
class ScriptSessionsTest {
  private static final ScriptLimits LIMITS = new ScriptLimits(5, 3, 2);

  private int begun;

  private static AdminRequest of(String user) {
    return new AdminRequest(
        "GET",
        "/v1/leases",
        "",
        "",
        new byte[0],
        new Caller(true, user, false),
        InetAddress.getLoopbackAddress(),
        name -> null);
  }

  /** Begins requests within each other until one is refused; returns why. */
  private String refusal(boolean waiting, String... users) {
    begun = 0;
    ScriptSessions[] sessions = new ScriptSessions[1];
    ScriptSessions.Opening next =
        request -> {
          AdminRequest further = of(users[begun % users.length]);
          begun++;
          sessions[0].shared(further, waiting, connection -> null);
          throw new AssertionError("none is refused");
        };
    sessions[0] = new ScriptSessions(LIMITS, next);
    String why = why(sessions[0], waiting, users[users.length - 1]);
    int first = begun;
    begun = 0;
    assertEquals(why, why(sessions[0], waiting, users[users.length - 1]), "all have left");
    assertEquals(first, begun);
    return why;
  }

  private static String why(ScriptSessions sessions, boolean waiting, String user) {
    return assertThrows(
            ScriptRefusal.class, () -> sessions.shared(of(user), waiting, connection -> null))
        .getMessage();
  }

  @Test
  void requestsAreBounded() {
    assertEquals(
        "this node already serves 5 requests of scripts, as many as it may: nothing was done; try"
            + " again later",
        refusal(false, "A", "B"));
    assertEquals(5, begun);
  }

  @Test
  void requestsOfAUserAreBounded() {
    assertEquals(
        "this node already serves 3 requests of user 'A', as many as it may: nothing was done; try"
            + " again later",
        refusal(false, "A"));
    assertEquals(3, begun);
  }

  @Test
  void waitsAreBounded() {
    assertEquals(
        "this node already has 2 requests of scripts that wait for a lock, as many as it may:"
            + " nothing was done; try again later",
        refusal(true, "A", "B"));
    assertEquals(2, begun);
  }

  @Test
  void refusalIsBusy() {
    ScriptRefusal refusal =
        assertThrows(
            ScriptRefusal.class,
            () ->
                new ScriptSessions(
                        new ScriptLimits(1, 1, 1),
                        request -> {
                          throw ScriptRefusal.of(dev.tollgate.wire.SqlState.BUSY, "busy");
                        })
                    .alone(of("A"), connection -> null));
    assertEquals(503, refusal.answer().status());
  }
}
