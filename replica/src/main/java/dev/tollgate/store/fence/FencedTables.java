package dev.tollgate.store.fence;

import dev.tollgate.core.SqlContext;
import dev.tollgate.core.command.FenceId;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.TableName;
import dev.tollgate.store.h2.H2Database;
import dev.tollgate.store.h2.H2Definitions;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.h2.command.CommandInterface;
import org.h2.command.Prepared;
import org.h2.command.ddl.AlterTableDropConstraint;
import org.h2.command.ddl.DropSchema;
import org.h2.command.ddl.DropTable;
import org.h2.command.dml.DataChangeStatement;
import org.h2.constraint.Constraint;
import org.h2.constraint.ConstraintActionType;
import org.h2.constraint.ConstraintReferential;
import org.h2.engine.SessionLocal;
import org.h2.index.Index;
import org.h2.schema.Schema;
import org.h2.table.Table;
import org.jspecify.annotations.Nullable;

/**
 * The fenced tables, and which of them a statement may write to. These are the table it names, and
 * the tables that referential actions reach. H2 runs a referential action whether or not it finds
 * rows, so a cascade counts as a write even if it would change nothing.
 *
 * <p>A definition also writes to the tables whose own definitions it may change: tables with
 * foreign keys to what it drops, and tables with columns of the domain that it drops or alters.
 */
public final class FencedTables {
  /** What a statement does to the rows of a table. */
  public enum Change {
    INSERT,
    UPDATE,
    DELETE,
    /** Anything: a definition, or a statement inside a query. */
    ANY
  }

  /** The name that H2 takes for the current schema if no schema has this name. */
  private static final String SCHEMA_OF_SESSION = "SESSION";

  private final Map<FenceId, Table> tables = new LinkedHashMap<>();
  private final RowGuards guards;

  public FencedTables(H2Database database) {
    guards = new RowGuards(database);
  }

  /**
   * Fences a table under these terms.
   *
   * @throws org.h2.message.DbException if the rows cannot have the locks that the terms give them;
   *     no fence is created then
   */
  public void bind(Table table, Operation.FenceTerms terms, SqlContext context) {
    RowLockExpression lock =
        terms instanceof Operation.RowFence rows ? guards.requireLocks(table, rows) : null;
    FenceId fence = context.createFence(nameOf(table), terms);
    tables.put(fence, table);
    if (lock != null) {
      guards.guard(fence, table, lock);
    }
  }

  /**
   * Registers the table of a fence that the core already has, and guards the rows of a row fence.
   * Existing rows of the table are not checked. A row fence whose locks cannot be computed gets a
   * guard that admits no write: a fence never loses its effect.
   */
  public void restore(FenceId fence, Table table, Operation.FenceTerms terms) {
    tables.put(fence, table);
    if (terms instanceof Operation.RowFence rows) {
      guards.guard(fence, table, rows);
    }
  }

  public void unbind(FenceId fence, SqlContext context) {
    tables.remove(fence);
    guards.remove(fence);
    context.dropFence(fence);
  }

  /**
   * Checks whether a definition may change the rows of tables that have a lock for each row. The
   * definition names these tables; it triggers no referential action.
   *
   * @return null if it may, otherwise the refusal
   */
  public Outcome.@Nullable Refused admitRows(
      SessionLocal session,
      Prepared definition,
      Operation.ExecuteSql statement,
      SqlContext context) {
    for (Operation.DefinitionTarget target : statement.targets()) {
      for (Table table : tablesOf(session, target)) {
        FenceId fence = fenceOf(table);
        Outcome.Refused refused =
            fence == null ? null : guards.admit(fence, table, definition, context);
        if (refused != null) {
          return refused;
        }
      }
    }
    return null;
  }

  /** Returns null if the fence of a table may end for all of its rows, otherwise the refusal. */
  public Outcome.@Nullable Refused admitAllRows(FenceId fence, Table table, SqlContext context) {
    return guards.admitAllRows(fence, table, context);
  }

  /** True if each row of the table has its own lock. */
  public boolean hasLockPerRow(FenceId fence) {
    return guards.isGuarded(fence);
  }

  /** The fence of this table object, or null. */
  public @Nullable FenceId fenceOf(Table table) {
    for (Map.Entry<FenceId, Table> entry : tables.entrySet()) {
      if (entry.getValue().equals(table)) {
        return entry.getKey();
      }
    }
    return null;
  }

  /** All tables that a statement may write to, and how. */
  public Map<Table, Change> written(
      SessionLocal session, Prepared prepared, Operation.ExecuteSql statement) {
    Map<Table, Change> written = new LinkedHashMap<>();
    if (prepared instanceof DataChangeStatement change) {
      addReached(change.getTable(), changeOf(prepared), written);
    }
    List<Table> named = new ArrayList<>();
    for (Operation.DefinitionTarget target : statement.targets()) {
      named.addAll(tablesOf(session, target));
    }
    for (Table table : named) {
      if (!written.containsKey(table)) {
        addReached(table, Change.ANY, written);
      }
    }
    if (statement.definition()) {
      for (Table table : redefined(session, prepared, named)) {
        written.put(table, Change.ANY);
      }
    }
    return written;
  }

  /** The tables whose definitions a definition may change besides those that it names. */
  private static Collection<Table> redefined(
      SessionLocal session, Prepared definition, Collection<Table> named) {
    Set<Table> redefined = new LinkedHashSet<>(H2Definitions.tablesOfDomains(session, definition));
    boolean dropsKeys =
        definition instanceof DropTable
            || definition instanceof AlterTableDropConstraint
            || definition.getType() == CommandInterface.ALTER_TABLE_DROP_COLUMN;
    Schema dropped =
        definition instanceof DropSchema drop ? H2Definitions.schemaOf(session, drop) : null;
    Collection<Table> losing =
        dropped != null ? dropped.getAllTablesAndViews(session) : dropsKeys ? named : List.of();
    for (Table table : losing) {
      for (Constraint constraint : table.getConstraints()) {
        if (constraint instanceof ConstraintReferential key && key.getRefTable().equals(table)) {
          redefined.add(key.getTable());
        }
      }
    }
    return redefined;
  }

  /** The fences of these tables, in order of creation. */
  public Collection<FenceId> fencesOf(Map<Table, Change> written) {
    Map<Long, FenceId> found = new TreeMap<>();
    tables.forEach(
        (fence, table) -> {
          if (written.containsKey(table)) {
            found.put(fence.value(), fence);
          }
        });
    return found.values();
  }

  private static Change changeOf(Prepared prepared) {
    return switch (prepared.getType()) {
      case CommandInterface.INSERT -> Change.INSERT;
      case CommandInterface.UPDATE -> Change.UPDATE;
      case CommandInterface.DELETE -> Change.DELETE;
      default -> Change.ANY;
    };
  }

  /** Adds a table, and all tables that the referential actions of foreign keys to it write. */
  private static void addReached(Table table, Change change, Map<Table, Change> written) {
    Change before = written.get(table);
    if (before == change || before == Change.ANY) {
      return;
    }
    Change now = before == null ? change : Change.ANY;
    written.put(table, now);
    for (Constraint constraint : table.getConstraints()) {
      if (constraint instanceof ConstraintReferential key && key.getRefTable().equals(table)) {
        if (now == Change.DELETE || now == Change.ANY) {
          follow(key, key.getDeleteAction(), Change.DELETE, written);
        }
        if (now == Change.UPDATE || now == Change.ANY) {
          follow(key, key.getUpdateAction(), Change.UPDATE, written);
        }
      }
    }
  }

  private static void follow(
      ConstraintReferential key,
      ConstraintActionType action,
      Change change,
      Map<Table, Change> written) {
    if (!action.isNoActionOrRestrict()) {
      boolean deletes = change == Change.DELETE && action == ConstraintActionType.CASCADE;
      addReached(key.getTable(), deletes ? Change.DELETE : Change.UPDATE, written);
    }
  }

  private List<Table> tablesOf(SessionLocal session, Operation.DefinitionTarget target) {
    return switch (target.kind()) {
      case TABLE -> asList(find(session, target.name()));
      case INDEX -> {
        Schema schema = schemaOf(session, target.name());
        Index index = schema == null ? null : schema.findIndex(session, target.name().name());
        yield index == null ? List.of() : List.of(index.getTable());
      }
      case SCHEMA -> {
        List<Table> inSchema = new ArrayList<>();
        for (Table table : tables.values()) {
          if (table.getSchema().getName().equals(target.name().name())) {
            inSchema.add(table);
          }
        }
        yield inSchema;
      }
      case CONSTRAINT -> {
        Schema schema = schemaOf(session, target.name());
        Constraint constraint =
            schema == null ? null : schema.findConstraint(session, target.name().name());
        yield constraint == null ? List.of() : asList(constraint.getTable());
      }
      case OTHER -> List.of();
    };
  }

  private static List<Table> asList(@Nullable Table table) {
    return table == null ? List.of() : List.of(table);
  }

  /** The table of this name, looked up as H2 does; null if there is none. */
  public static @Nullable Table find(SessionLocal session, TableName name) {
    Schema schema = schemaOf(session, name);
    return schema == null ? null : schema.resolveTableOrView(session, name.name());
  }

  private static @Nullable Schema schemaOf(SessionLocal session, TableName name) {
    String current = session.getCurrentSchemaName();
    String stated = name.schema();
    Schema schema = session.getDatabase().findSchema(stated == null ? current : stated);
    return schema == null && SCHEMA_OF_SESSION.equals(stated)
        ? session.getDatabase().findSchema(current)
        : schema;
  }

  public static TableName nameOf(Table table) {
    return new TableName(table.getSchema().getName(), table.getName());
  }

  /**
   * Updates the fences after a definition, which cannot be refused any more. H2 creates a new table
   * object when it rebuilds a table, and keeps the object when it renames the table. H2 discards
   * the object when it drops the table.
   */
  public void follow(SessionLocal session, SqlContext context) {
    for (Map.Entry<FenceId, Table> entry : List.copyOf(tables.entrySet())) {
      FenceId fence = entry.getKey();
      Table known = entry.getValue();
      TableName name = context.tableOf(fence);
      Table now = find(session, name);
      if (known.equals(now)) {
        continue;
      }
      if (isAlive(session, known)) {
        context.renameFence(fence, nameOf(known));
      } else if (now != null) {
        restore(fence, now, context.termsOf(fence));
      } else {
        unbind(fence, context);
      }
    }
  }

  private static boolean isAlive(SessionLocal session, Table table) {
    if (!table.isValid()) {
      return false;
    }
    Schema schema = table.getSchema();
    return schema.equals(session.getDatabase().findSchema(schema.getName()))
        && table.equals(schema.findTableOrView(session, table.getName()));
  }
}
