package dev.tollgate.store;

import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.TableName;
import dev.tollgate.core.command.UserName;
import dev.tollgate.store.h2.H2Database;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.store.statement.ReaderGate;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.h2.engine.Database;
import org.h2.engine.Right;
import org.h2.engine.RightOwner;
import org.h2.engine.Role;
import org.h2.engine.SessionLocal;
import org.h2.schema.Schema;
import org.h2.util.StringUtils;
import org.jspecify.annotations.Nullable;

/**
 * The users as H2 knows them: names that rights are granted to, and that own schemas. H2 knows none
 * of their passwords. An administrator is a user who may alter any schema.
 */
final class Users {
  private static final int WRITES =
      Right.INSERT | Right.UPDATE | Right.DELETE | Right.ALTER_ANY_SCHEMA;

  private static final String ALL_RIGHTS = "ALTER ANY SCHEMA";

  private final H2Database database;
  private final ReaderGate gate;

  Users(H2Database database, ReaderGate gate) {
    this.database = database;
    this.gate = gate;
  }

  Outcome.@Nullable SqlFailed create(UserName user) {
    // without salt and hash H2 would draw a salt, another one on each replica
    return administer("CREATE USER " + quoted(user) + " SALT '' HASH ''");
  }

  void setAdministrator(UserName user, boolean administers) {
    Outcome.SqlFailed failed =
        administer(
            administers
                ? "GRANT " + ALL_RIGHTS + " TO " + quoted(user)
                : "REVOKE " + ALL_RIGHTS + " FROM " + quoted(user));
    if (failed != null) {
      throw new IllegalStateException(failed.message());
    }
  }

  Outcome.@Nullable SqlFailed drop(UserName user) {
    return administer("DROP USER " + quoted(user));
  }

  private static String quoted(UserName user) {
    return StringUtils.quoteIdentifier(user.value());
  }

  private Outcome.@Nullable SqlFailed administer(String sql) {
    gate.closeForDefinition();
    SessionLocal administration = database.openAdministration();
    try {
      administration.prepareCommand(sql).executeUpdate(null);
      return null;
    } catch (RuntimeException e) {
      return SqlErrors.failure(e);
    } finally {
      administration.close();
      gate.open();
    }
  }

  SortedSet<String> rolesOf(String grantee) {
    Database h2 = database.h2();
    SortedSet<String> found = new TreeSet<>();
    Deque<RightOwner> open = new ArrayDeque<>();
    Role everybody = h2.getPublicRole();
    found.add(everybody.getName());
    open.add(everybody);
    RightOwner self = h2.findUserOrRole(grantee);
    if (self != null) {
      open.add(self);
    }
    while (!open.isEmpty()) {
      RightOwner owner = open.pop();
      for (Right right : h2.getAllRights()) {
        Role role = right.getGrantedRole();
        if (role != null
            && right.getGrantee().getName().equals(owner.getName())
            && found.add(role.getName())) {
          open.add(role);
        }
      }
    }
    return found;
  }

  boolean mayWrite(UserName user) {
    Database h2 = database.h2();
    Set<String> names = rolesOf(user.value());
    names.add(user.value());
    return h2.getAllRights().stream()
            .anyMatch(
                right ->
                    (right.getRightMask() & WRITES) != 0
                        && names.contains(right.getGrantee().getName()))
        || h2.getAllSchemas().stream()
            .anyMatch(schema -> names.contains(schema.getOwner().getName()));
  }

  boolean hasGrantee(String name) {
    RightOwner owner = database.h2().findUserOrRole(name);
    return owner != null && !H2Database.isUserOfTheNode(name);
  }

  boolean hasSequence(TableName name) {
    Schema schema = database.h2().findSchema(name.schema());
    return schema != null && schema.findSequence(name.name()) != null;
  }
}
