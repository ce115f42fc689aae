package dev.tollgate.node.replica;

import dev.tollgate.core.command.Right;
import java.util.List;

/**
 * What a user may do with what is not its own. An administrator may do everything.
 *
 * @param audits whether the user sees the state of the whole cluster
 * @param managesLocks whether the user may do with all locks and leases what an administrator may
 */
public record Duties(boolean administers, boolean audits, boolean managesLocks) {
  /** Those of most users. */
  public static final Duties NONE = new Duties(false, false, false);

  /** Those of an administrator. */
  public static final Duties ALL = new Duties(true, true, true);

  /** Those of a user with these rights that is no administrator. */
  static Duties of(List<Right> rights) {
    boolean audits = rights.stream().anyMatch(right -> right.kind() == Right.Kind.AUDIT);
    boolean manages = rights.stream().anyMatch(right -> right.kind() == Right.Kind.MANAGE);
    return audits || manages ? new Duties(false, audits, manages) : NONE;
  }
}
