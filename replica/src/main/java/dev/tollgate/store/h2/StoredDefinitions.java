package dev.tollgate.store.h2;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.h2.constraint.Constraint;
import org.h2.engine.Database;
import org.h2.engine.DbObject;
import org.h2.schema.Domain;
import org.h2.schema.Schema;
import org.h2.schema.SchemaObject;
import org.h2.schema.Sequence;
import org.h2.table.Table;
import org.h2.table.TableView;

/** Collects the definitions of a database in the order in which a restore makes them. */
final class StoredDefinitions {
  private static final int VIEWS = 9;
  private static final int CHECKS = 10;

  private StoredDefinitions() {}

  /** All permanent objects. */
  static List<StoredDefinition> of(Database database) {
    List<DbObject> objects = new ArrayList<>();
    objects.addAll(database.getAllUsersAndRoles());
    objects.addAll(database.getAllRights());
    objects.addAll(database.getAllComments());
    for (Schema schema : database.getAllSchemasNoMeta()) {
      objects.add(schema);
      List<SchemaObject> inSchema = schema.getAll(null);
      objects.addAll(inSchema);
    }
    objects.removeIf(object -> object.getId() <= 0 || object.isTemporary());
    objects.sort(
        Comparator.comparingInt(StoredDefinitions::phase)
            .thenComparingInt(StoredDefinitions::narrowed)
            .thenComparingInt(DbObject::getId));
    List<StoredDefinition> stored = new ArrayList<>();
    List<StoredExpression> expressions = new ArrayList<>();
    List<StoredExpression> last = new ArrayList<>();
    for (DbObject object : objects) {
      if (phase(object) >= CHECKS) {
        stored.addAll(expressions);
        expressions.clear();
      }
      if (object instanceof TableView view) {
        stored.add(StoredView.of(view));
        continue;
      }
      StoredObject one = StoredObject.of(object);
      if (one != null) {
        stored.add(one);
        if (object instanceof Table table) {
          StoredExpression.addAll(table, expressions);
          StoredExpression.addUnchecked(table, last);
        } else if (object instanceof Domain domain) {
          StoredExpression.addAll(domain, expressions);
        } else if (object instanceof Sequence sequence) {
          StoredExpression.addAll(sequence, expressions);
        }
      }
    }
    stored.addAll(expressions);
    stored.addAll(last);
    return stored;
  }

  /** How many domains a domain narrows, one narrowing the next; 0 for other objects. */
  private static int narrowed(DbObject object) {
    int depth = 0;
    if (object instanceof Domain domain) {
      for (Domain next = domain.getDomain(); next != null; next = next.getDomain()) {
        depth++;
      }
    }
    return depth;
  }

  private static int phase(DbObject object) {
    return switch (object.getType()) {
      case DbObject.USER -> 1;
      case DbObject.SCHEMA -> 2;
      case DbObject.FUNCTION_ALIAS -> 3;
      case DbObject.DOMAIN -> 4;
      case DbObject.SEQUENCE, DbObject.CONSTANT -> 5;
      case DbObject.TABLE_OR_VIEW -> object instanceof TableView ? VIEWS : 6;
      case DbObject.INDEX -> 7;
      case DbObject.CONSTRAINT -> isKey((Constraint) object) ? 8 : CHECKS;
      case DbObject.ROLE -> 11;
      case DbObject.RIGHT -> 12;
      default -> 13;
    };
  }

  /** True for keys: foreign keys need the keys to which they refer. */
  private static boolean isKey(Constraint constraint) {
    return constraint.getConstraintType() == Constraint.Type.PRIMARY_KEY
        || constraint.getConstraintType() == Constraint.Type.UNIQUE;
  }
}
