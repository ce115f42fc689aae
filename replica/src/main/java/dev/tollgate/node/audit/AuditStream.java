package dev.tollgate.node.audit;

import dev.tollgate.core.command.AuditEvent;

/**
 * Which events have files of their own: a user makes those of {@link #ACTIVITY} as fast as it likes
 * and as far as its rights go, and must not displace the others with them.
 */
enum AuditStream {
  /** What is done with the rights of an administrator or of an owner, and each forced release. */
  SECURITY,
  /** Grants and losses of locks, refused writes, and what a session asked for in vain. */
  ACTIVITY;

  private static final AuditEvent.Handler<AuditStream> OF =
      new AuditEvent.Handler<>() {
        @Override
        public AuditStream granted(AuditEvent.LockGranted event) {
          return ACTIVITY;
        }

        @Override
        public AuditStream forced(AuditEvent.LockForced event) {
          return SECURITY;
        }

        @Override
        public AuditStream lost(AuditEvent.LockLost event) {
          return ACTIVITY;
        }

        @Override
        public AuditStream refused(AuditEvent.WriteRefused event) {
          return ACTIVITY;
        }

        @Override
        public AuditStream administered(AuditEvent.Administered event) {
          return ofAct(event.by(), event.result());
        }

        @Override
        public AuditStream defined(AuditEvent.Defined event) {
          return ofAct(event.by(), event.result());
        }
      };

  /** The stream of an event of the log. */
  static AuditStream of(AuditEvent event) {
    return event.handledBy(OF);
  }

  /** A session may repeat as often as it likes what changes nothing. */
  private static AuditStream ofAct(AuditEvent.Party by, AuditEvent.Result result) {
    return result.isInVain() && by.session() != null ? ACTIVITY : SECURITY;
  }
}
