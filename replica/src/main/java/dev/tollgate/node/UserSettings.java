package dev.tollgate.node;

import dev.tollgate.core.command.UserAccount;
import org.jspecify.annotations.Nullable;

/**
 * What a node knows of users before it has any.
 *
 * @param loginRequired whether clients have to log in although the cluster may have no users yet
 * @param firstAdministrator whom the node creates as leader of a cluster without users; null for
 *     none
 */
public record UserSettings(boolean loginRequired, @Nullable UserAccount firstAdministrator) {
  /** Clients have to log in once the cluster has users. */
  public static final UserSettings OPTIONAL =
      new UserSettings(/* loginRequired= */ false, /* firstAdministrator= */ null);

  public UserSettings {
    if (firstAdministrator != null && !loginRequired) {
      throw new IllegalArgumentException("an administrator where nobody logs in");
    }
  }
}
