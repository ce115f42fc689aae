package dev.tollgate.node.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tollgate.core.command.AuditEvent;
import dev.tollgate.core.command.SessionId;
import org.junit.jupiter.api.Test;

class AuditStreamTest {
  private static AuditStream ofForcedRelease(AuditEvent.Result result) {
    AuditEvent.Party by = new AuditEvent.Party(new SessionId(1), "OP", null);
    return AuditStream.of(new AuditEvent.Administered(by, "force_release_lock", "job", result));
  }

  /** What a user repeats without end displaces no line of {@code audit.log}. */
  @Test
  void onlyWhatASessionHasDoneIsSecurity() {
    for (AuditEvent.Result.Kind kind : AuditEvent.Result.Kind.values()) {
      assertEquals(
          kind == AuditEvent.Result.Kind.DONE ? AuditStream.SECURITY : AuditStream.ACTIVITY,
          ofForcedRelease(new AuditEvent.Result(kind, null)),
          kind.name());
    }
  }
}
