package dev.tollgate.store.schema;

import dev.tollgate.store.h2.H2Database;
import dev.tollgate.store.statement.SystemTable;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** The statements that create schema TOLLGATE: its views, its functions, and the clients' user. */
public final class SystemSchema {
  private static final List<String> FUNCTIONS =
      List.of(
          "HOLDS_LOCK holdsLock",
          "LOCK_TOKEN lockToken",
          "CREATE_LEASE createLease",
          "REVOKE_LEASE revokeLease",
          "TRY_ACQUIRE_LOCK tryAcquireLock",
          "TRY_ACQUIRE_SHARED_LOCK tryAcquireSharedLock",
          "TRY_ACQUIRE_LOCKS tryAcquireLocks",
          "RELEASE_LOCK releaseLock",
          "TRANSFER_LOCK transferLock",
          "FORCE_RELEASE_LOCK forceReleaseLock");

  /** These functions depend on their arguments alone, so definitions may use them. */
  private static final List<String> STRING_FUNCTIONS =
      List.of("REPEAT repeat", "SPACE space", "LPAD lpad", "RPAD rpad", "REPLACE replace");

  private SystemSchema() {}

  /** Creates a database with this schema, and without objects of clients. */
  public static H2Database newDatabase() {
    return new H2Database(statements(H2Database.CLIENT));
  }

  private static List<String> statements(String clientUser) {
    List<String> statements = new ArrayList<>();
    statements.add("CREATE SCHEMA " + H2Database.SYSTEM_SCHEMA);
    statements.add("CREATE USER " + clientUser + " PASSWORD ''");
    statements.add("GRANT ALTER ANY SCHEMA TO " + clientUser);
    for (String function : FUNCTIONS) {
      String[] names = function.split(" ", 2);
      statements.add(alias(names[0], LockFunctions.class.getName() + "." + names[1]));
    }
    statements.add("SET BUILTIN_ALIAS_OVERRIDE TRUE");
    for (String function : STRING_FUNCTIONS) {
      String[] names = function.split(" ", 2);
      statements.add(
          alias(names[0], StringFunctions.class.getName() + "." + names[1])
              .replace(" FOR ", " DETERMINISTIC FOR "));
    }
    statements.add("SET BUILTIN_ALIAS_OVERRIDE FALSE");
    statements.add(alias("ROWS_OF", SystemFunctions.class.getName() + ".rowsOf"));
    for (SystemTable table : SystemTable.values()) {
      statements.add(view(table));
    }
    statements.add("GRANT SELECT ON SCHEMA " + H2Database.SYSTEM_SCHEMA + " TO PUBLIC");
    return statements;
  }

  private static String alias(String name, String method) {
    return "CREATE ALIAS " + H2Database.SYSTEM_SCHEMA + "." + name + " FOR '" + method + "'";
  }

  private static String view(SystemTable table) {
    String columns =
        table.columns().stream().map(SystemTable.Column::name).collect(Collectors.joining(", "));
    return "CREATE VIEW "
        + H2Database.SYSTEM_SCHEMA
        + "."
        + table
        + " AS SELECT "
        + columns
        + " FROM "
        + H2Database.SYSTEM_SCHEMA
        + ".ROWS_OF('"
        + table
        + "')";
  }
}
