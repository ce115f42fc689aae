package dev.tollgate.store.h2;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.h2.constraint.Constraint;
import org.h2.engine.Database;
import org.h2.engine.DbObject;
import org.h2.index.Index;
import org.h2.schema.Schema;
import org.h2.schema.SchemaObject;
import org.jspecify.annotations.Nullable;

/**
 * One object of a database as H2 would re-create it.
 *
 * @param comparable the SQL that has to be the same on every replica, or null
 */
public record StoredObject(int id, String sql, @Nullable String comparable) {
  /** All permanent objects, in the order in which H2 would create them at a restart. */
  static List<StoredObject> of(Database database) {
    List<DbObject> objects = new ArrayList<>();
    objects.addAll(database.getAllUsersAndRoles());
    objects.addAll(database.getAllRights());
    objects.addAll(database.getAllComments());
    for (Schema schema : database.getAllSchemasNoMeta()) {
      objects.add(schema);
      List<SchemaObject> inSchema = schema.getAll(null);
      objects.addAll(inSchema);
    }
    objects.sort(Comparator.comparingInt(StoredObject::phase).thenComparingInt(DbObject::getId));
    List<StoredObject> stored = new ArrayList<>();
    for (DbObject object : objects) {
      String sql = object.getId() <= 0 || object.isTemporary() ? null : createSql(object);
      if (sql != null) {
        stored.add(new StoredObject(object.getId(), sql, comparableSql(object, sql)));
      }
    }
    return stored;
  }

  /**
   * Null for the index of a constraint: H2 names it after tables that it creates and drops
   * meanwhile.
   */
  private static @Nullable String comparableSql(DbObject object, String sql) {
    if (object instanceof Constraint constraint) {
      return constraint.getCreateSQLWithoutIndexes();
    }
    return object instanceof Index index && isOfConstraint(index) ? null : sql;
  }

  public static boolean isOfConstraint(Index index) {
    return index.getIndexType().getBelongsToConstraint();
  }

  /** For a sequence, SQL with the next value; for its own restart, H2 writes a later value. */
  private static String createSql(DbObject object) {
    return object.getType() == DbObject.SEQUENCE
        ? object.getCreateSQL()
        : object.getCreateSQLForMeta();
  }

  private static int phase(DbObject object) {
    return switch (object.getType()) {
      case DbObject.USER -> 1;
      case DbObject.SCHEMA -> 2;
      case DbObject.FUNCTION_ALIAS -> 3;
      case DbObject.DOMAIN -> 4;
      case DbObject.SEQUENCE -> 5;
      case DbObject.CONSTANT -> 6;
      case DbObject.TABLE_OR_VIEW -> 7;
      case DbObject.INDEX -> 8;
      case DbObject.CONSTRAINT -> isKey((Constraint) object) ? 9 : 10;
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
