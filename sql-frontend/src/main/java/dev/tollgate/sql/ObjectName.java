package dev.tollgate.sql;

import static java.util.Objects.requireNonNull;

import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The name of a table, or of another object of a schema, as H2 understands it: what was written
 * without quotes is in upper case, what was written in quotes is unchanged. A catalog in front of
 * the schema is dropped, because there is only one.
 *
 * @param schema null when none was written: then the session's schema is meant
 */
public record ObjectName(@Nullable String schema, String name) {

  private static final Set<String> RESERVED_SCHEMAS = Set.of("TOLLGATE", "INFORMATION_SCHEMA");

  public ObjectName {
    requireNonNull(name, "name");
  }

  /**
   * Whether this is a schema that statements may read but never change, and in which a session may
   * not stand: every replica shows its own state there. Upper and lower case do not matter.
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
