package dev.tollgate.store;

import dev.tollgate.core.command.Limits;
import dev.tollgate.store.h2.Exhausted;
import dev.tollgate.store.h2.H2Definitions;
import dev.tollgate.store.limits.UseWeights;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.h2.command.Prepared;
import org.h2.command.ddl.CreateRole;
import org.h2.command.ddl.DropRole;
import org.h2.command.ddl.GrantRevoke;
import org.h2.engine.Database;
import org.h2.engine.Right;
import org.h2.engine.RightOwner;
import org.h2.engine.Role;

/**
 * CREATE ROLE, DROP ROLE, GRANT and REVOKE, which H2 lets only an administrator run.
 *
 * <p>H2 records these statements, but they change nothing for clients. All clients are one H2 user,
 * whose own right to alter any schema comes before the rights of roles and of PUBLIC. The SQL
 * front-end rejects every statement that names a user of the node, or a schema of the system.
 */
final class RoleStatements {
  /**
   * Granted roles by grantee, ordered by name: in a cycle, which H2 refuses later, weights depend
   * on the starting point.
   */
  private final SortedMap<RightOwner, List<RightOwner>> granted =
      new TreeMap<>(Comparator.comparing(RightOwner::getName));

  private RoleStatements() {}

  static boolean isOne(Prepared statement) {
    return statement instanceof CreateRole
        || statement instanceof DropRole
        || statement instanceof GrantRevoke;
  }

  /**
   * Refuses a GRANT or REVOKE that auditors cannot be told whole.
   *
   * @throws org.h2.message.DbException with SQLState 54001
   */
  static void requireShort(String sql) {
    if (sql.length() > Limits.GRANT_CHARS) {
      throw Exhausted.work(
          "no right was granted or revoked, because the statement has "
              + sql.length()
              + " characters and may have "
              + Limits.GRANT_CHARS
              + ": name fewer objects in each");
    }
  }

  /**
   * Refuses a GRANT by which a role would have other roles too many times: H2 searches all paths
   * from role to role for a cycle.
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
    roles.granted.values().forEach(list -> list.sort(Comparator.comparing(RightOwner::getName)));
    UseWeights<RightOwner> weights =
        new UseWeights<>(owner -> roles.granted.getOrDefault(owner, List.of()), owner -> 1);
    for (RightOwner grantee : roles.granted.keySet()) {
      if (weights.of(grantee) > Limits.ROLE_WEIGHT) {
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
}
