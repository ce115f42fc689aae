package dev.tollgate.value;

import static java.util.Objects.requireNonNull;

import org.h2.value.TypeInfo;
import org.jspecify.annotations.Nullable;

/**
 * One column of a row set.
 *
 * @param label the name of the column for the client
 * @param schema the schema of the table it comes from, or null
 * @param table the table it comes from, or null
 * @param name its name in that table, or null
 * @param identity true if the database numbers it
 * @param nullable {@code ResultSetMetaData.columnNoNulls}, columnNullable or columnNullableUnknown
 */
public record Column(
    String label,
    @Nullable String schema,
    @Nullable String table,
    @Nullable String name,
    TypeInfo type,
    boolean identity,
    int nullable) {
  public Column {
    requireNonNull(label, "label");
    requireNonNull(type, "type");
  }
}
