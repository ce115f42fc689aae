package dev.tollgate.node;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.UserAccount;
import dev.tollgate.node.client.LoginRules;
import org.jspecify.annotations.Nullable;

/**
 * What a node knows of users before it has any.
 *
 * @param loginRequired whether clients have to log in although the cluster may have no users yet
 * @param firstAdministrator whom the node creates as leader of a cluster without users; null for
 *     none
 * @param rules what the node demands of logins
 */
public record UserSettings(
    boolean loginRequired, @Nullable UserAccount firstAdministrator, LoginRules rules) {
  /** Clients have to log in once the cluster has users. */
  public static final UserSettings OPTIONAL =
      new UserSettings(/* loginRequired= */ false, /* firstAdministrator= */ null);

  /** Creates the settings of a node that demands what nodes demand by default. */
  public UserSettings(boolean loginRequired, @Nullable UserAccount firstAdministrator) {
    this(loginRequired, firstAdministrator, LoginRules.STANDARD);
  }

  public UserSettings {
    requireNonNull(rules, "rules");
    if (firstAdministrator != null && !loginRequired) {
      throw new IllegalArgumentException("an administrator where nobody logs in");
    }
  }
}
