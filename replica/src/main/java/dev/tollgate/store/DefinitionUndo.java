package dev.tollgate.store;

import dev.tollgate.h2.CatalogChanges;
import dev.tollgate.store.h2.H2Definitions;
import dev.tollgate.store.h2.ReplicaFailure;
import dev.tollgate.store.h2.StoredObject;
import dev.tollgate.store.h2.Touched;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.h2.command.Prepared;
import org.h2.command.ddl.AlterTableAlterColumn;
import org.h2.command.ddl.CreateView;
import org.h2.constraint.Constraint;
import org.h2.engine.DbObject;
import org.h2.engine.SessionLocal;
import org.h2.index.Index;
import org.h2.schema.Domain;
import org.h2.schema.Schema;
import org.h2.schema.SchemaObject;
import org.h2.table.Column;
import org.h2.table.Table;
import org.h2.table.TableView;
import org.h2.util.HasSQL;
import org.jspecify.annotations.Nullable;

/**
 * Undoes what H2 has done of a definition that failed.
 *
 * <p>H2 undoes some of that by itself. It leaves a domain of which it could not make a constraint,
 * and new columns of which it could not make a constraint. It has dropped the indexes and
 * constraints of a column before it finds that the column is in use. It has given a view the new
 * query before it finds two columns of one name. After a fault of its own, H2 leaves tables that it
 * has just made.
 */
final class DefinitionUndo {
  private final SessionLocal session;
  private final CatalogChanges changes;

  /** The altered table, which H2 may have replaced by another one of this name; null if none. */
  private final @Nullable Schema schema;

  private final String altered;
  private final Set<String> columns = new LinkedHashSet<>();

  /** How to make the replaced view again; null if there is none. */
  private final @Nullable String view;

  /** How to make the indexes and constraints of the altered table again, by name. */
  private final Map<String, String> parts = new LinkedHashMap<>();

  /**
   * Notes what there is before H2 runs the definition.
   *
   * @param changes records what H2 does of the definition
   */
  DefinitionUndo(SessionLocal session, Prepared definition, CatalogChanges changes) {
    this.session = session;
    this.changes = changes;
    Table table =
        definition instanceof AlterTableAlterColumn
            ? H2Definitions.alteredTable(session, definition)
            : null;
    TableView replaced =
        definition instanceof CreateView made ? H2Definitions.replacedBy(session, made) : null;
    view =
        replaced == null ? null : replaced.getCreateSQL(/* orReplace= */ true, /* force= */ true);
    schema = table == null ? null : table.getSchema();
    altered = table == null ? "" : table.getName();
    if (table != null) {
      columns.addAll(columnsOf(table));
      partsOf(table).forEach(part -> parts.put(sql(part), creationOf(part)));
    }
  }

  /**
   * Removes what is new, and makes again what is gone.
   *
   * @throws ReplicaFailure if that fails
   */
  void run() {
    try {
      session.rollback();
      restoreTable();
      if (view != null) {
        update(view);
      }
      for (SchemaObject object : List.copyOf(changes.added())) {
        if (object instanceof Table table && Touched.exists(table) && !wasThere(table)) {
          update("DROP TABLE " + sql(table) + " CASCADE");
        } else if (object instanceof Domain domain && Touched.exists(domain)) {
          session.getDatabase().removeSchemaObject(session, domain);
        }
      }
      session.commit(true);
    } catch (RuntimeException e) {
      throw new ReplicaFailure("a definition failed, and could not be undone", e);
    }
  }

  private void restoreTable() {
    Table table = schema == null ? null : schema.findTableOrView(session, altered);
    if (table == null) {
      return;
    }
    Set<String> left = new HashSet<>();
    for (SchemaObject part : partsOf(table)) {
      if (parts.containsKey(sql(part))) {
        left.add(sql(part));
      } else {
        session.getDatabase().removeSchemaObject(session, part);
      }
    }
    Set<String> added = columnsOf(table);
    added.removeAll(columns);
    if (!added.isEmpty()) {
      update("ALTER TABLE " + sql(table) + " DROP COLUMN " + String.join(", ", added));
    }
    parts.forEach(
        (name, creation) -> {
          if (!left.contains(name)) {
            update(creation);
          }
        });
  }

  private void update(String definition) {
    session.prepare(definition).update();
  }

  /** True for what H2 has made in the place of another object: of an altered table, or its view. */
  private boolean wasThere(Table table) {
    return changes.formerNames().contains(sql(table));
  }

  private static Set<String> columnsOf(Table table) {
    Set<String> names = new LinkedHashSet<>();
    for (Column column : table.getColumns()) {
      names.add(column.getSQL(HasSQL.DEFAULT_SQL_FLAGS));
    }
    return names;
  }

  /**
   * The indexes that belong to no constraint, then keys and checks, then foreign keys, also of
   * other tables. Hidden constraints are left out.
   */
  private static List<SchemaObject> partsOf(Table table) {
    List<SchemaObject> found = new ArrayList<>();
    for (Index index : table.getIndexes()) {
      if (!index.getIndexType().isScan()
          && index.getCreateSQL() != null
          && !StoredObject.isOfConstraint(index)) {
        found.add(index);
      }
    }
    List<SchemaObject> references = new ArrayList<>();
    for (Constraint constraint : table.getConstraints()) {
      if (constraint.getId() > 0) {
        boolean refers = constraint.getConstraintType() == Constraint.Type.REFERENTIAL;
        (refers ? references : found).add(constraint);
      }
    }
    found.addAll(references);
    return found;
  }

  /** Without the names of indexes of constraints, which H2 has dropped with the constraints. */
  private static String creationOf(SchemaObject part) {
    return part instanceof Constraint constraint
        ? constraint.getCreateSQLWithoutIndexes()
        : Objects.requireNonNull(part.getCreateSQL());
  }

  private static String sql(DbObject object) {
    return object.getSQL(HasSQL.DEFAULT_SQL_FLAGS);
  }
}
