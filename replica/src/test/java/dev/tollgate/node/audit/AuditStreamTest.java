package dev.tollgate.node.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tollgate.core.command.AuditEvent;
import dev.tollgate.core.command.SessionId;
import org.junit.jupiter.api.Test;

class AuditStreamTest {
  private static AuditStream ofForcedRelease(String outcome) {
    AuditEvent.Party by = new AuditEvent.Party(new SessionId(1), "OP", null);
    return AuditStream.of(new AuditEvent.Administered(by, "force_release_lock", "job", outcome));
  }

  /** What a user repeats without end displaces no line of {@code audit.log}. */
  @Test
  void whatASessionDoesInVainIsActivity() {
    for (String outcome : new String[] {"refused", "failed: 54001", "lock_not_held"}) {
      assertEquals(AuditStream.ACTIVITY, ofForcedRelease(outcome), outcome);
    }
    assertEquals(AuditStream.SECURITY, ofForcedRelease("done"));
  }
}
