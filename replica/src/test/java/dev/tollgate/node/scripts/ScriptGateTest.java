package dev.tollgate.node.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.tollgate.node.admin.Answer;
import dev.tollgate.node.admin.Caller;
import dev.tollgate.node.client.LoginProof;
import dev.tollgate.node.login.LoginMethod;
import dev.tollgate.node.replica.Duties;
import org.junit.jupiter.api.Test;

class ScriptGateTest {
  private static final Caller A =
      new Caller(true, new LoginProof("A", 1, LoginMethod.SCRAM, null), Duties.NONE);
  private static final Caller B =
      new Caller(true, new LoginProof("B", 1, LoginMethod.SCRAM, null), Duties.NONE);
  private static final Caller NOBODY = new Caller(true, null, Duties.ALL);

  private final ScriptGate gate = new ScriptGate(new ScriptLimits(5, 3, 2, 2));

  private void enter(Caller caller, int times) {
    for (int i = 0; i < times; i++) {
      assertNull(gate.enter(caller));
    }
  }

  private void assertFull(Caller caller) {
    Answer answer = gate.enter(caller);
    assertNotNull(answer);
    assertEquals(503, answer.status());
  }

  @Test
  void requestsAreBounded() {
    enter(A, 3);
    enter(B, 2);
    assertFull(B);
    gate.leave(A);
    enter(B, 1);
    assertFull(A);
  }

  @Test
  void requestsOfAUserAreBounded() {
    enter(A, 3);
    assertFull(A);
    enter(B, 1);
    gate.leave(A);
    enter(A, 1);
    assertFull(A);
  }

  @Test
  void withoutUsersOnlyTheirSumIsBounded() {
    enter(NOBODY, 5);
    assertFull(NOBODY);
  }
}
