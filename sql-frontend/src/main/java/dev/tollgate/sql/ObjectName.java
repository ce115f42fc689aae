package dev.tollgate.sql;

import static java.util.Objects.requireNonNull;

import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The name of a table, or of another object of a schema, as H2 understands it. An unquoted name is
 * in upper case, a quoted name is unchanged. A catalog before the schema is dropped, because there
 * is only one catalog.
 *
 * @param schema null if the statement gives none: then the session's schema is meant
 */
public record ObjectName(@Nullable String schema, String name) {

  private static final Set<String> RESERVED_SCHEMAS = Set.of("TOLLGATE", "INFORMATION_SCHEMA");

  public ObjectName {
    requireNonNull(name, "name");
  }

  /**
   * Whether statements may read the schema but never change it, and no session may make it its
   * current schema. Every replica shows its own state there. Upper and lower case do not matter.
   */
  public static boolean isReservedSchema(String schema) {
    return RESERVED_SCHEMAS.contains(schema.toUpperCase(Locale.ROOT));
  }

  boolean isInReservedSchema() {
    return schema != null && isReservedSchema(schema);
  }

  @Override
  public String toString() {
    return schema == null ? name : schema + "." + name;
  }
}
