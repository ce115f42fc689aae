package dev.tollgate.store.limits;

import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;
import org.h2.constraint.Constraint;
import org.h2.constraint.ConstraintDomain;
import org.h2.engine.SessionLocal;
import org.h2.schema.Schema;

/**
 * Meters the rules of all domains. H2 asks them of a value wherever it becomes one of the domain,
 * in queries and definitions too, and one thread after the other: a query that took for ever there
 * would hold up the thread that applies the log.
 */
public final class DomainMeters {
  private final Set<Constraint> metered = Collections.newSetFromMap(new WeakHashMap<>());

  /** Meters those too that a definition has just made; while nobody reads. */
  public void follow(SessionLocal session) {
    for (Schema schema : session.getDatabase().getAllSchemasNoMeta()) {
      for (Constraint constraint : schema.getAllConstraints()) {
        if (constraint instanceof ConstraintDomain rule && metered.add(rule)) {
          ScanMeters.attach(session, rule);
        }
      }
    }
  }
}
