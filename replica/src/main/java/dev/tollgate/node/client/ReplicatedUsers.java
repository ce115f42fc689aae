package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.UniqueId;
import dev.tollgate.core.command.UserName;
import dev.tollgate.node.replica.Facts;
import dev.tollgate.sql.UserNames;
import dev.tollgate.wire.WireWriter;
import org.jspecify.annotations.Nullable;

/**
 * The users of the replicated state, as far as this node has applied the log. Clients have to log
 * in once the cluster has users, or from the start if the node was told so. Thread-safe.
 */
public final class ReplicatedUsers implements Authentication, SessionOwners {
  private final Facts facts;
  private final boolean required;

  /**
   * @param required whether clients have to log in although the cluster may have no users
   */
  public ReplicatedUsers(Facts facts, boolean required) {
    this.facts = requireNonNull(facts, "facts");
    this.required = required;
  }

  @Override
  public boolean isRequired() {
    return required || facts.hasUsers();
  }

  @Override
  public boolean knowsUsers() {
    return facts.hasUsers();
  }

  /** As SQL spells names of users, quoted or not. */
  @Override
  public String spelled(String name) {
    return UserNames.spelled(name);
  }

  /** By the time of the log here; the core decides again when the user opens a session. */
  @Override
  public @Nullable User find(String spelled) {
    if (!UserName.isValid(spelled)) {
      return null;
    }
    Facts.KnownUser known = facts.knownUser(new UserName(spelled));
    return known == null
        ? null
        : new User(
            spelled,
            known.passwords(),
            known.account().number(),
            known.account().closed(facts.logTimeMicros()));
  }

  @Override
  public byte[] decoyKey() {
    UniqueId secret = facts.loginSecret();
    return new WireWriter(2 * Long.BYTES).i64(secret.high()).i64(secret.low()).toByteArray();
  }

  @Override
  public boolean mayUse(@Nullable String user, SessionId session) {
    Facts.SessionFacts known = facts.session(session);
    String owner = known == null ? null : known.user().value();
    return owner != null && owner.equals(user == null ? UserName.ANONYMOUS.value() : user);
  }
}
