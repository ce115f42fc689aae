package dev.tollgate.store.limits;

import dev.tollgate.core.command.Limits;
import dev.tollgate.store.h2.Exhausted;
import dev.tollgate.store.h2.H2Definitions;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.wire.SqlState;
import org.h2.command.Prepared;
import org.h2.command.ddl.AlterSchemaRename;
import org.h2.command.ddl.AlterTableRename;
import org.h2.command.ddl.AlterTableRenameColumn;
import org.h2.command.ddl.CommandWithColumns;
import org.h2.command.ddl.CreateDomain;
import org.h2.command.ddl.CreateView;
import org.h2.command.query.Query;
import org.h2.engine.SessionLocal;
import org.h2.message.DbException;
import org.h2.schema.Domain;
import org.h2.schema.Schema;
import org.h2.table.Table;
import org.h2.table.TableView;
import org.h2.util.HasSQL;
import org.h2.util.ParserUtil;

/**
 * Limits on definitions that would make other statements too expensive, and on those that would
 * break views.
 */
final class DefinitionLimits {
  private DefinitionLimits() {}

  /**
   * Rejects a view that uses itself or uses views too often, a domain that ends too long a chain of
   * domains that narrow one another, too many constraints, and a new name for what views name.
   *
   * @throws org.h2.message.DbException with SQLState 54001, 42T01 or HYC00
   */
  static void require(SessionLocal session, Prepared definition) {
    if (definition instanceof CreateView view) {
      requireLightView(session, view);
    } else if (definition instanceof CreateDomain domain) {
      requireFewParents(domain);
    } else if (definition instanceof CommandWithColumns columns) {
      requireFewConstraints(columns);
    } else if (definition instanceof AlterTableRename rename) {
      requireNoViewsOf(session, rename);
    } else if (definition instanceof AlterTableRenameColumn rename) {
      requireNoViewsOf(session, rename);
    } else if (definition instanceof AlterSchemaRename rename) {
      requireNoViewsOf(session, H2Definitions.schemaOf(rename));
    }
  }

  /** A view is text: after the renaming, the view would name what is not there. */
  private static void requireNoViewsOf(SessionLocal session, AlterTableRename rename) {
    Table table = H2Definitions.renamedTable(session, rename);
    if (table != null) {
      for (TableView view : table.getDependentViews()) {
        throw named(view, table.getSQL(HasSQL.DEFAULT_SQL_FLAGS));
      }
    }
    if (table instanceof TableView view) {
      ViewWeights.requireNoCircle(session, view, H2Definitions.newNameOf(rename));
    }
  }

  private static void requireNoViewsOf(SessionLocal session, AlterTableRenameColumn rename) {
    Table table = H2Definitions.renamedTable(session, rename);
    if (table == null) {
      return;
    }
    String column =
        ParserUtil.quoteIdentifier(
                new StringBuilder(), H2Definitions.oldNameOf(rename), HasSQL.DEFAULT_SQL_FLAGS)
            .toString();
    for (TableView view : table.getDependentViews()) {
      if (view.getQuerySQL().contains(column)) {
        throw named(view, "column " + column);
      }
    }
  }

  private static void requireNoViewsOf(SessionLocal session, Schema schema) {
    for (TableView view : Views.of(session)) {
      boolean concerned =
          view.getSchema().equals(schema)
              // such a view may name the schema, or what it is about to be called
              || view.isInvalid()
              || view.getTables().stream().anyMatch(table -> table.getSchema().equals(schema));
      if (concerned) {
        throw named(view, "schema " + schema.getSQL(HasSQL.DEFAULT_SQL_FLAGS));
      }
    }
  }

  private static DbException named(TableView view, String renamed) {
    return DbException.convert(
        SqlErrors.exception(
            SqlState.NOT_SUPPORTED,
            renamed
                + " was not renamed, because view "
                + view.getSQL(HasSQL.DEFAULT_SQL_FLAGS)
                + " may name it: drop the view, rename, and create the view again"));
  }

  /** H2 names constraints one after the other, and tries all names that are taken for each. */
  private static void requireFewConstraints(CommandWithColumns definition) {
    int constraints = H2Definitions.constraintsOf(definition);
    if (constraints > Limits.CONSTRAINTS_OF_A_DEFINITION) {
      throw Exhausted.work(
          "the definition was refused and changed nothing, because it makes "
              + constraints
              + " constraints and may make "
              + Limits.CONSTRAINTS_OF_A_DEFINITION
              + ": join conditions by AND in one CHECK");
    }
  }

  private static void requireLightView(SessionLocal session, CreateView view) {
    Query query = H2Definitions.queryOf(view);
    ViewWeights.require(
        session,
        H2Definitions.schemaOf(view),
        H2Definitions.nameOf(view),
        query == null ? H2Definitions.textOf(view) : query.getPlanSQL(HasSQL.DEFAULT_SQL_FLAGS),
        query != null);
  }

  private static void requireFewParents(CreateDomain definition) {
    int depth = 1;
    for (Domain parent = H2Definitions.parentOf(definition);
        parent != null;
        parent = parent.getDomain()) {
      depth++;
    }
    if (depth > Limits.DOMAIN_DEPTH) {
      throw Exhausted.work(
          "the domain was not made, because more than "
              + Limits.DOMAIN_DEPTH
              + " domains would narrow one another: base it on the data type");
    }
  }
}
