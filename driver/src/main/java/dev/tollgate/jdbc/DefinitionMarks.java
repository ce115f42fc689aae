package dev.tollgate.jdbc;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Definitions that take effect together with a change of rows. {@code
 * connection.unwrap(DefinitionMarks.class)} is that of a connection, and like it for one thread at
 * a time.
 */
public interface DefinitionMarks {
  /**
   * Has a definition take effect together with a change of rows, as one command of the log: both
   * do, or neither does, whatever the definition waits for and whoever dies meanwhile. Definitions
   * are DDL, fences of tables, and changes of locks, users and rights. The definition commits the
   * open transaction first, as every definition does.
   *
   * <p>Call this right before the definition is executed. The change waits for the execution of a
   * statement with this text, until {@link #dropMark}.
   *
   * @param definition the text of the definition as it will be executed, without parameters
   * @param change an INSERT, UPDATE, DELETE or MERGE of a table that the definition does not change
   * @param values of the parameters of the change
   */
  void markDefinition(String definition, String change, @Nullable Object... values)
      throws SQLException;

  /**
   * Forgets the change that waits for a definition.
   *
   * @return false if none waits: it was sent with its definition
   */
  boolean dropMark() throws SQLException;
}
