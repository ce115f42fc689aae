package dev.tollgate.store.h2;

import java.util.ArrayList;
import java.util.List;
import org.h2.engine.Right;
import org.h2.engine.RightOwner;
import org.h2.engine.Role;
import org.h2.engine.User;
import org.h2.schema.Schema;
import org.h2.table.MetaTable;
import org.h2.table.Table;
import org.jspecify.annotations.Nullable;

/**
 * Asks H2 for rights of a user or role: its own, those of its roles, and those of PUBLIC. Users and
 * roles are compared by name, because H2 takes those of equal ids for equal.
 */
public final class H2Rights {
  private H2Rights() {}

  /** Returns true if the user or role itself may alter any schema. */
  public static boolean mayAlterAnySchema(RightOwner grantee) {
    return includes(grantee.getRightForObject(null), Right.ALTER_ANY_SCHEMA);
  }

  /** Returns true if the user or role may read a table or view. */
  public static boolean maySelect(RightOwner grantee, Table table) {
    return grantee instanceof User user
        ? user.hasTableRight(table, Right.SELECT)
        : table instanceof MetaTable
            || has(grantee, table.getSchema(), table, Right.SELECT)
            || has(everybody(grantee), table.getSchema(), table, Right.SELECT);
  }

  /** Returns true if the user or role may insert rows into all tables of a schema. */
  public static boolean mayInsertInto(RightOwner grantee, Schema schema) {
    return has(grantee, schema, null, Right.INSERT)
        || has(everybody(grantee), schema, null, Right.INSERT);
  }

  private static Role everybody(RightOwner grantee) {
    return grantee.getDatabase().getPublicRole();
  }

  private static boolean has(RightOwner grantee, Schema schema, @Nullable Table table, int mask) {
    return schema.getOwner().getName().equals(grantee.getName())
        || (grantee instanceof User user && user.isAdmin())
        || mayAlterAnySchema(grantee)
        || includes(grantee.getRightForObject(schema), mask)
        || (table != null && includes(grantee.getRightForObject(table), mask))
        || rolesOf(grantee).stream().anyMatch(role -> has(role, schema, table, mask));
  }

  private static boolean includes(@Nullable Right granted, int mask) {
    return granted != null && (granted.getRightMask() & mask) == mask;
  }

  private static List<Role> rolesOf(RightOwner grantee) {
    List<Role> roles = new ArrayList<>();
    for (Right right : grantee.getDatabase().getAllRights()) {
      if (right.getGrantedRole() != null
          && right.getGrantee().getName().equals(grantee.getName())) {
        roles.add(right.getGrantedRole());
      }
    }
    return roles;
  }
}
