package dev.tollgate.store;

import org.h2.command.Prepared;
import org.h2.command.ddl.CreateRole;
import org.h2.command.ddl.DropRole;
import org.h2.command.ddl.GrantRevoke;

/**
 * CREATE ROLE, DROP ROLE, GRANT and REVOKE, which H2 lets an administrator alone run.
 *
 * <p>They are noted, and change nothing for clients: all of them are one user of H2, who may alter
 * any schema by a right of its own, which comes before those of roles and of PUBLIC. The SQL
 * front-end lets no statement pass that names a user of the node, or a schema of the system.
 */
final class RoleStatements {
  private RoleStatements() {}

  static boolean isOne(Prepared statement) {
    return statement instanceof CreateRole
        || statement instanceof DropRole
        || statement instanceof GrantRevoke;
  }
}
