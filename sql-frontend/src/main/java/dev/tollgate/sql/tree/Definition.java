package dev.tollgate.sql.tree;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.jspecify.annotations.Nullable;

/**
 * What a DDL statement acts on, reads and evaluates. The grammar fills it while it parses the
 * statement; afterwards it is only read.
 */
public final class Definition {

  /** An object that the statement creates, alters, drops, truncates or comments on. */
  public record Named(ObjectClass kind, SqlIdentifier name) {}

  /** What the statement does with the fencing of its table, beyond the clauses at its end. */
  public enum Binding {
    UNCHANGED,
    BOUND,
    UNBOUND
  }

  private final List<Named> targets = new ArrayList<>();
  private final List<SqlIdentifier> reads = new ArrayList<>();
  private final List<Named> rights = new ArrayList<>();
  private final List<SqlIdentifier> principals = new ArrayList<>();
  private final List<SqlNode> parts = new ArrayList<>();
  private final List<FenceClause> fences = new ArrayList<>();
  private boolean newTable;
  private boolean view;
  private Binding binding = Binding.UNCHANGED;
  private @Nullable FenceClause bound;

  public void target(ObjectClass kind, SqlIdentifier name) {
    targets.add(new Named(kind, name));
  }

  /** Records the table of a CREATE TABLE. */
  public void newTable(SqlIdentifier name) {
    newTable = true;
    target(ObjectClass.TABLE, name);
  }

  /**
   * Records the table of a qualified column: a statement that acts on the column acts on its table.
   */
  public void columnOf(SqlIdentifier column) {
    int tableLength = column.names.size() - 1;
    if (tableLength == 0) {
      throw new GrammarException(
          column.getParserPosition(),
          "a column is commented with its table: COMMENT ON COLUMN table.column");
    }
    target(ObjectClass.TABLE, column.getComponent(0, tableLength));
  }

  /** Records a table that a foreign key refers to. */
  public void reads(SqlIdentifier table) {
    reads.add(table);
  }

  /** Records the name of a user or a role. */
  public void principal(SqlIdentifier name) {
    principals.add(name);
  }

  /** Records the name of a user or a role that the statement acts on. */
  public void targetPrincipal(SqlIdentifier name) {
    target(ObjectClass.ROLE, name);
    principal(name);
  }

  /** Records a table that a GRANT or REVOKE names. */
  public void rightsOnTable(SqlIdentifier table) {
    rights.add(new Named(ObjectClass.TABLE, table));
  }

  /** Records a schema that a GRANT or REVOKE names. */
  public void rightsOnSchema(SqlIdentifier schema) {
    rights.add(new Named(ObjectClass.SCHEMA, schema));
  }

  /** Records an expression, a data type or a query that the statement contains. */
  public void part(SqlNode node) {
    parts.add(node);
  }

  /** Records the query of a view: it is evaluated at every read of the view, not now. */
  public void viewQuery(SqlNode query) {
    view = true;
    parts.add(query);
  }

  /** Records a clause at the end of the statement. */
  public void fenced(FenceClause clause) {
    fences.add(clause);
  }

  /** {@code ALTER TABLE t FENCED BY LOCK ...} */
  public void binds(FenceClause clause, boolean ifExists) {
    checkNoIfExists(clause.start(), ifExists);
    binding = Binding.BOUND;
    bound = clause;
  }

  /** {@code ALTER TABLE t NOT FENCED} */
  public void unbinds(SqlParserPos position, boolean ifExists) {
    checkNoIfExists(position, ifExists);
    binding = Binding.UNBOUND;
  }

  private static void checkNoIfExists(SqlParserPos position, boolean ifExists) {
    if (ifExists) {
      throw new GrammarException(
          position,
          "FENCED does not go with IF EXISTS: a fence that may not be there protects nothing");
    }
  }

  public List<Named> targets() {
    return Collections.unmodifiableList(targets);
  }

  public List<SqlIdentifier> reads() {
    return Collections.unmodifiableList(reads);
  }

  /**
   * Returns the objects on which rights are granted or revoked; the statement changes them in no
   * other way.
   */
  public List<Named> rights() {
    return Collections.unmodifiableList(rights);
  }

  public List<SqlIdentifier> principals() {
    return Collections.unmodifiableList(principals);
  }

  public List<SqlNode> parts() {
    return Collections.unmodifiableList(parts);
  }

  public List<FenceClause> fences() {
    return Collections.unmodifiableList(fences);
  }

  public boolean isNewTable() {
    return newTable;
  }

  public boolean isView() {
    return view;
  }

  public Binding binding() {
    return binding;
  }

  /** The clause of {@link Binding#BOUND}, else null. */
  public @Nullable FenceClause bound() {
    return bound;
  }
}
