package dev.tollgate.store;

import dev.tollgate.core.Limits;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.h2.command.Prepared;
import org.h2.command.ddl.CreateRole;
import org.h2.command.ddl.DropRole;
import org.h2.command.ddl.GrantRevoke;
import org.h2.engine.Database;
import org.h2.engine.Right;
import org.h2.engine.RightOwner;
import org.h2.engine.Role;

/**
 * CREATE ROLE, DROP ROLE, GRANT and REVOKE, which H2 lets an administrator alone run.
 *
 * <p>They are noted, and change nothing for clients: all of them are one user of H2, who may alter
 * any schema by a right of its own, which comes before those of roles and of PUBLIC. The SQL
 * front-end lets no statement pass that names a user of the node, or a schema of the system.
 */
final class RoleStatements {
  private static final long MOST = 1L << 40;

  private final Map<RightOwner, List<Role>> granted = new HashMap<>();
  private final Map<RightOwner, Long> weights = new HashMap<>();

  private RoleStatements() {}

  static boolean isOne(Prepared statement) {
    return statement instanceof CreateRole
        || statement instanceof DropRole
        || statement instanceof GrantRevoke;
  }

  /**
   * Refuses to grant roles to a role with which a role would have others too often: H2 looks for a
   * circle on all ways from role to role.
   *
   * @throws org.h2.message.DbException with SQLState 54001
   */
  static void requireFewWays(Database database, GrantRevoke statement) {
    RoleStatements roles = new RoleStatements();
    for (Right right : database.getAllRights()) {
      if (right.getGrantedRole() != null) {
        roles.grant((RightOwner) right.getGrantee(), right.getGrantedRole());
      }
    }
    for (String name : H2Definitions.rolesGrantedBy(statement)) {
      Role role = database.findRole(name);
      if (role != null) {
        roles.grant(H2Definitions.granteeOf(statement), role);
      }
    }
    for (RightOwner grantee : List.copyOf(roles.granted.keySet())) {
      if (roles.weightOf(grantee) > Limits.ROLE_WEIGHT) {
        throw Exhausted.work(
            "the role was not granted, because a role would have roles more than "
                + Limits.ROLE_WEIGHT
                + " times, each counted as often as the roles that it is granted to");
      }
    }
  }

  private void grant(RightOwner grantee, Role role) {
    granted.computeIfAbsent(grantee, any -> new ArrayList<>()).add(role);
  }

  private long weightOf(RightOwner grantee) {
    Long known = weights.get(grantee);
    if (known != null) {
      return known;
    }
    // H2 refuses a circle
    weights.put(grantee, 1L);
    long weight = 1;
    for (Role role : granted.getOrDefault(grantee, List.of())) {
      weight = Math.min(MOST, weight + weightOf(role));
    }
    weights.put(grantee, weight);
    return weight;
  }
}
