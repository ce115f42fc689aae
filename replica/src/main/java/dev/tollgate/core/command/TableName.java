package dev.tollgate.core.command;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * A table as a statement names it, in the store's spelling (unquoted names in upper case).
 *
 * @param schema null where the statement leaves the schema to the session
 */
public record TableName(@Nullable String schema, String name) {
  public TableName {
    requireNonNull(name, "name");
  }

  @Override
  public String toString() {
    return schema == null ? name : schema + "." + name;
  }
}
