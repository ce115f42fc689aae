package dev.tollgate.h2;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.h2.constraint.Constraint;
import org.h2.constraint.ConstraintDomain;
import org.h2.constraint.ConstraintReferential;
import org.h2.engine.DbObject;
import org.h2.index.Index;
import org.h2.result.SearchRow;
import org.h2.schema.Schema;
import org.h2.schema.SchemaObject;
import org.h2.util.HasSQL;
import org.jspecify.annotations.Nullable;

/**
 * The objects that H2 adds, changes, renames or removes on a thread, as it tells its catalog. What
 * follows a definition can go by them, and need not go through the whole schema.
 *
 * <p>An index counts as its table, and a constraint as its tables or its domain.
 */
public final class CatalogChanges {
  private static final ThreadLocal<@Nullable CatalogChanges> OF_THREAD = new ThreadLocal<>();

  /** H2 compares objects by their ids, which it gives to others once an object is gone. */
  private final Set<DbObject> known = Collections.newSetFromMap(new IdentityHashMap<>());

  private final List<DbObject> touched = new ArrayList<>();
  private final List<SchemaObject> added = new ArrayList<>();
  private final Set<DbObject> knownAsAdded = Collections.newSetFromMap(new IdentityHashMap<>());
  private final Set<String> formerNames = new LinkedHashSet<>();

  private CatalogChanges() {}

  /** Begins to record what H2 does on this thread. */
  public static CatalogChanges begin() {
    CatalogChanges changes = new CatalogChanges();
    OF_THREAD.set(changes);
    return changes;
  }

  /** Ends the recording. */
  public static void end() {
    OF_THREAD.remove();
  }

  /** Each object that was touched, once, in order; some are gone by now. */
  public List<DbObject> touched() {
    return Collections.unmodifiableList(touched);
  }

  /** The objects of schemas that were added, in order; some are gone by now. */
  public List<SchemaObject> added() {
    return Collections.unmodifiableList(added);
  }

  /** Full names of objects that were there before, and were removed or renamed. */
  public Set<String> formerNames() {
    return Collections.unmodifiableSet(formerNames);
  }

  private void touch(DbObject object) {
    if (object instanceof ConstraintDomain rule) {
      touch(rule.getDomain());
    } else if (object instanceof Constraint constraint) {
      touch(constraint.getTable());
      if (constraint instanceof ConstraintReferential key) {
        touch(key.getRefTable());
      }
    } else if (object instanceof Index index) {
      touch(index.getTable());
    } else if (known.add(object)) {
      touched.add(object);
    }
  }

  private void leaves(SchemaObject object) {
    touch(object);
    if (!knownAsAdded.contains(object)) {
      formerNames.add(object.getSQL(HasSQL.DEFAULT_SQL_FLAGS));
    }
  }

  @Replaces(of = "org.h2.engine.MetaRecord", isStatic = true, in = "org.h2.engine.Database")
  public static void populateRowFromDBObject(DbObject object, SearchRow row) {
    CatalogChanges changes = OF_THREAD.get();
    if (changes != null) {
      changes.touch(object);
    }
    org.h2.engine.MetaRecord.populateRowFromDBObject(object, row);
  }

  @Replaces(of = "org.h2.schema.Schema", in = "org.h2.engine.Database")
  public static void add(Schema schema, SchemaObject object) {
    schema.add(object);
    CatalogChanges changes = OF_THREAD.get();
    if (changes != null) {
      changes.touch(object);
      if (changes.knownAsAdded.add(object)) {
        changes.added.add(object);
      }
    }
  }

  @Replaces(of = "org.h2.schema.Schema", in = "org.h2.engine.Database")
  public static void remove(Schema schema, SchemaObject object) {
    CatalogChanges changes = OF_THREAD.get();
    if (changes != null) {
      changes.leaves(object);
    }
    schema.remove(object);
  }

  @Replaces(of = "org.h2.schema.Schema", in = "org.h2.engine.Database")
  public static void rename(Schema schema, SchemaObject object, String name) {
    CatalogChanges changes = OF_THREAD.get();
    if (changes != null) {
      changes.leaves(object);
    }
    schema.rename(object, name);
  }
}
