package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.node.audit.AuditTrail;
import java.util.Locale;

/** Writes logins to the audit file. Thread-safe. */
public final class LoginAudit implements AuthenticationListener {
  private final AuditTrail trail;

  public LoginAudit(AuditTrail trail) {
    this.trail = requireNonNull(trail, "trail");
  }

  @Override
  public void loggedIn(Attempt attempt) {
    trail.loginSucceeded(attempt.user(), attempt.address(), attempt.mechanism());
  }

  @Override
  public void refused(Attempt attempt, Reason reason) {
    trail.loginFailed(
        attempt.user(),
        attempt.address(),
        attempt.mechanism(),
        reason.name().toLowerCase(Locale.ROOT));
  }
}
