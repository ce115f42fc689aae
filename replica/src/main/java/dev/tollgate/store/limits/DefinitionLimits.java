package dev.tollgate.store.limits;

import dev.tollgate.core.command.Limits;
import dev.tollgate.store.h2.Exhausted;
import dev.tollgate.store.h2.H2Definitions;
import org.h2.command.Prepared;
import org.h2.command.ddl.CommandWithColumns;
import org.h2.command.ddl.CreateDomain;
import org.h2.command.ddl.CreateView;
import org.h2.command.query.Query;
import org.h2.engine.SessionLocal;
import org.h2.schema.Domain;
import org.h2.util.HasSQL;

/** Limits on definitions that would make other statements too expensive. */
final class DefinitionLimits {
  private DefinitionLimits() {}

  /**
   * Rejects a view that uses views too often, and a domain that ends too long a chain of domains
   * that narrow one another.
   *
   * @throws org.h2.message.DbException with SQLState 54001
   */
  static void require(SessionLocal session, Prepared definition) {
    if (definition instanceof CreateView view) {
      requireLightView(session, view);
    } else if (definition instanceof CreateDomain domain) {
      requireFewParents(domain);
    } else if (definition instanceof CommandWithColumns columns) {
      requireFewConstraints(columns);
    }
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
