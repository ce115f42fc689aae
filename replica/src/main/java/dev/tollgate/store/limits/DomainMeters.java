package dev.tollgate.store.limits;

import dev.tollgate.store.h2.SqlErrors;
import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;
import org.h2.engine.SessionLocal;
import org.h2.expression.Expression;
import org.h2.schema.Domain;
import org.h2.schema.Schema;
import org.jspecify.annotations.Nullable;

/**
 * Meters the rules of all domains. H2 checks the rules wherever a value becomes a value of the
 * domain, in queries and definitions too, and in one thread after the other. A query that never
 * finished such a check would block the apply thread.
 */
public final class DomainMeters {
  private final Set<Expression> metered = Collections.newSetFromMap(new WeakHashMap<>());

  /** Meters the rules that a definition has just made; no query may run meanwhile. */
  public void follow(SessionLocal session) {
    for (Schema schema : session.getDatabase().getAllSchemasNoMeta()) {
      for (Domain domain : schema.getAllDomains()) {
        attach(session, domain.getDefaultExpression());
        attach(session, domain.getOnUpdateExpression());
        if (domain.getConstraints() != null) {
          domain.getConstraints().forEach(rule -> attach(session, rule.getExpression()));
        }
      }
    }
  }

  private void attach(SessionLocal session, @Nullable Expression rule) {
    if (rule != null && metered.add(rule)) {
      try {
        ScanMeters.attach(session, rule);
      } catch (RuntimeException e) {
        SqlErrors.requireFunctionOfLog(e);
        // the rule is there already; a statement that uses it is refused when it is prepared
      }
    }
  }
}
