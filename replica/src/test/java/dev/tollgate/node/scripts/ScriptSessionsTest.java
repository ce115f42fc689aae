package dev.tollgate.node.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tollgate.node.admin.AdminRequest;
import dev.tollgate.node.admin.Caller;
import dev.tollgate.node.admin.Presence;
import dev.tollgate.node.client.LoginProof;
import dev.tollgate.node.login.LoginMethod;
import dev.tollgate.node.replica.Duties;
import dev.tollgate.wire.SqlState;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * How many requests wait for locks at a time: each one begins the next while it opens its session.
 */
class ScriptSessionsTest {
  private static final ScriptLimits LIMITS = new ScriptLimits(5, 3, 3, 2);

  private int begun;

  private static AdminRequest request(@Nullable String user) {
    return new AdminRequest(
        "GET",
        "/v1/leases",
        "",
        "",
        new byte[0],
        new Caller(
            true,
            user == null ? null : new LoginProof(user, 1, LoginMethod.SCRAM, null),
            Duties.NONE),
        InetAddress.getLoopbackAddress(),
        name -> null,
        new Presence());
  }

  /**
   * Begins requests within one another.
   *
   * @param users whose requests they are, one after the other; the last one begins all further ones
   * @return why the last one was refused, when all have left again
   */
  private String refusal(@Nullable String... users) {
    ScriptSessions[] sessions = new ScriptSessions[1];
    begun = 0;
    sessions[0] =
        new ScriptSessions(
            LIMITS,
            request -> {
              begun++;
              sessions[0].waiting(request(userOf(users)), connection -> null);
              throw new AssertionError("none is refused");
            });
    return String.valueOf(
        assertThrows(
                ScriptRefusal.class,
                () -> sessions[0].waiting(request(userOf(users)), connection -> null))
            .getMessage());
  }

  private @Nullable String userOf(@Nullable String... users) {
    return users[Math.min(begun, users.length - 1)];
  }

  @Test
  void waitsAreBounded() {
    assertEquals(
        "this node already has 3 requests of scripts that wait for a lock, as many as it may:"
            + " nothing was done; try again later, or without a wait",
        refusal("A", "A", "B"));
    assertEquals(3, begun);
    refusal((String) null);
    assertEquals(3, begun, "a cluster without users has no shares");
  }

  @Test
  void waitsOfOneUserLeaveRoom() {
    assertEquals(
        "this node already has 2 requests of user 'A' that wait for a lock, as many as it may:"
            + " nothing was done; try again later, or without a wait",
        refusal("A"));
    assertEquals(2, begun);
  }

  @Test
  void waitsThatEndedDoNotCount() throws Exception {
    ScriptSessions[] sessions = new ScriptSessions[1];
    sessions[0] =
        new ScriptSessions(
            LIMITS,
            request -> {
              throw ScriptRefusal.of(SqlState.BUSY, "opened " + ++begun);
            });
    for (int i = 1; i <= 5; i++) {
      assertEquals(
          "opened " + i,
          assertThrows(
                  ScriptRefusal.class, () -> sessions[0].waiting(request("A"), connection -> null))
              .getMessage());
    }
  }
}
