package dev.tollgate.store;

import dev.tollgate.store.h2.H2Definitions;
import dev.tollgate.store.h2.ReplicaFailure;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.h2.command.Prepared;
import org.h2.command.ddl.AlterTableAlterColumn;
import org.h2.constraint.Constraint;
import org.h2.engine.SessionLocal;
import org.h2.schema.Domain;
import org.h2.schema.Schema;
import org.h2.table.Column;
import org.h2.table.Table;
import org.h2.util.HasSQL;
import org.h2.util.ParserUtil;
import org.jspecify.annotations.Nullable;

/**
 * Undoes what H2 has done of a definition that failed.
 *
 * <p>H2 undoes most of that by itself. It leaves a domain of which it could not make a constraint,
 * new columns of which it could not make a constraint, and, after a fault of its own, tables that
 * it has just made.
 */
final class DefinitionUndo {
  private final SessionLocal session;
  private final Set<String> tables = new HashSet<>();
  private final Set<Domain> domains;
  private final @Nullable Schema schema;
  private final String altered;
  private final Set<String> columns;
  private final Set<String> constraints;

  /** Notes what there is before H2 runs the definition. */
  DefinitionUndo(SessionLocal session, Prepared definition) {
    this.session = session;
    for (Table table : session.getDatabase().getAllTablesAndViews()) {
      tables.add(sql(table));
    }
    domains = new HashSet<>(allDomains());
    Table table =
        definition instanceof AlterTableAlterColumn columnsOf
                && !H2Definitions.newColumns(columnsOf).isEmpty()
            ? H2Definitions.alteredTable(session, definition)
            : null;
    schema = table == null ? null : table.getSchema();
    altered = table == null ? "" : table.getName();
    columns = table == null ? Set.of() : columnsOf(table);
    constraints = table == null ? Set.of() : constraintsOf(table);
  }

  /**
   * Removes what is new.
   *
   * @throws ReplicaFailure if that fails
   */
  void run() {
    try {
      session.rollback();
      removeColumns();
      removeTables();
      for (Domain domain : allDomains()) {
        if (!domains.contains(domain)) {
          session.getDatabase().removeSchemaObject(session, domain);
        }
      }
      session.commit(true);
    } catch (RuntimeException e) {
      throw new ReplicaFailure("a definition failed, and could not be undone", e);
    }
  }

  /** H2 may have put a new table in the place of an altered one, under the same name. */
  private void removeTables() {
    for (Table table : session.getDatabase().getAllTablesAndViews()) {
      if (!tables.contains(sql(table))) {
        session.prepare("DROP TABLE " + sql(table)).update();
      }
    }
  }

  private void removeColumns() {
    Table table = schema == null ? null : schema.findTableOrView(session, altered);
    if (table == null) {
      return;
    }
    for (Constraint constraint : constraintsIn(table)) {
      if (!constraints.contains(constraint.getName())) {
        session.getDatabase().removeSchemaObject(session, constraint);
      }
    }
    Set<String> added = columnsOf(table);
    added.removeAll(columns);
    if (!added.isEmpty()) {
      session
          .prepare(
              "ALTER TABLE "
                  + sql(table)
                  + " DROP COLUMN "
                  + added.stream()
                      .map(
                          name ->
                              ParserUtil.quoteIdentifier(
                                      new StringBuilder(), name, HasSQL.DEFAULT_SQL_FLAGS)
                                  .toString())
                      .collect(Collectors.joining(", ")))
          .update();
    }
  }

  private List<Domain> allDomains() {
    List<Domain> all = new ArrayList<>();
    for (Schema schema : session.getDatabase().getAllSchemasNoMeta()) {
      all.addAll(schema.getAllDomains());
    }
    return all;
  }

  private static Set<String> columnsOf(Table table) {
    Set<String> names = new LinkedHashSet<>();
    for (Column column : table.getColumns()) {
      names.add(column.getName());
    }
    return names;
  }

  private static Set<String> constraintsOf(Table table) {
    return constraintsIn(table).stream().map(Constraint::getName).collect(Collectors.toSet());
  }

  /** Those that belong to the table, without the hidden ones, and without foreign keys to it. */
  private static List<Constraint> constraintsIn(Table table) {
    List<Constraint> own = new ArrayList<>();
    for (Constraint constraint : table.getConstraints()) {
      if (constraint.getTable().equals(table) && constraint.getId() > 0) {
        own.add(constraint);
      }
    }
    return own;
  }

  private static String sql(Table table) {
    return table.getSQL(HasSQL.DEFAULT_SQL_FLAGS);
  }
}
