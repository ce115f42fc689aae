package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.node.login.LoginMethod;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A user that has proven who it is.
 *
 * @param user as the cluster spells it
 * @param number tells the login from those that no longer count; see {@link
 *     Authentication.User#number}
 * @param method by which the user has proven it
 * @param left for how long the proof counts from the moment of the login; null without an end
 */
public record LoginProof(String user, long number, LoginMethod method, @Nullable Duration left) {
  public LoginProof {
    requireNonNull(user, "user");
    requireNonNull(method, "method");
  }

  static LoginProof of(Authentication.User user, LoginMethod method) {
    return new LoginProof(user.name(), user.number(), method, /* left= */ null);
  }
}
