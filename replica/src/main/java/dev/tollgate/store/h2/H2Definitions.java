package dev.tollgate.store.h2;

import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.h2.command.CommandInterface;
import org.h2.command.Parser;
import org.h2.command.Prepared;
import org.h2.command.ddl.AlterDomain;
import org.h2.command.ddl.AlterDomainAddConstraint;
import org.h2.command.ddl.AlterDomainExpressions;
import org.h2.command.ddl.AlterSchemaRename;
import org.h2.command.ddl.AlterTableAddConstraint;
import org.h2.command.ddl.AlterTableAlterColumn;
import org.h2.command.ddl.AlterTableDropConstraint;
import org.h2.command.ddl.AlterTableRename;
import org.h2.command.ddl.AlterTableRenameColumn;
import org.h2.command.ddl.CommandWithColumns;
import org.h2.command.ddl.CreateConstant;
import org.h2.command.ddl.CreateDomain;
import org.h2.command.ddl.CreateIndex;
import org.h2.command.ddl.CreateSchema;
import org.h2.command.ddl.CreateTable;
import org.h2.command.ddl.CreateTableData;
import org.h2.command.ddl.CreateView;
import org.h2.command.ddl.DropSchema;
import org.h2.command.ddl.GrantRevoke;
import org.h2.command.ddl.SchemaCommand;
import org.h2.command.dml.NoOperation;
import org.h2.command.query.Query;
import org.h2.constraint.Constraint;
import org.h2.constraint.ConstraintCheck;
import org.h2.constraint.ConstraintDomain;
import org.h2.engine.Database;
import org.h2.engine.RightOwner;
import org.h2.engine.SessionLocal;
import org.h2.expression.Expression;
import org.h2.expression.SequenceValue;
import org.h2.schema.Domain;
import org.h2.schema.Schema;
import org.h2.schema.Sequence;
import org.h2.table.Column;
import org.h2.table.Table;
import org.h2.table.TableFilter;
import org.h2.table.TableView;
import org.h2.util.HasSQL;
import org.h2.value.TypeInfo;
import org.jspecify.annotations.Nullable;

/**
 * Reads what a parsed definition is about to do, which H2 keeps in private fields: types, checks,
 * keys, queries and grants.
 *
 * <p>Also recognizes definitions that change nothing, because what they create IF NOT EXISTS
 * exists, or what they drop IF EXISTS does not, but only those that may name a fenced table, or the
 * schema of a fenced table. H2 itself finds that other definitions have nothing to do.
 */
public final class H2Definitions {
  private static final VarHandle SCHEMA = handle(SchemaCommand.class, "schema", Schema.class);
  private static final VarHandle TABLE_UNLESS_THERE = flag(CreateTable.class, "ifNotExists");
  private static final VarHandle TABLE_DATA =
      handle(CreateTable.class, "data", CreateTableData.class);
  private static final VarHandle INDEX_UNLESS_THERE = flag(CreateIndex.class, "ifNotExists");
  private static final VarHandle INDEX_NAME = name(CreateIndex.class, "indexName");
  private static final VarHandle INDEX_TABLE = name(CreateIndex.class, "tableName");
  private static final VarHandle SCHEMA_UNLESS_THERE = flag(CreateSchema.class, "ifNotExists");
  private static final VarHandle SCHEMA_NAME = name(CreateSchema.class, "schemaName");
  private static final VarHandle SCHEMA_OWNER = name(CreateSchema.class, "authorization");
  private static final VarHandle COLUMN_UNLESS_THERE =
      flag(AlterTableAlterColumn.class, "ifNotExists");
  private static final VarHandle COLUMN_TABLE = name(AlterTableAlterColumn.class, "tableName");
  private static final VarHandle NEW_COLUMNS =
      handle(AlterTableAlterColumn.class, "columnsToAdd", ArrayList.class);
  private static final VarHandle ALTERED_COLUMN =
      handle(AlterTableAlterColumn.class, "oldColumn", Column.class);
  private static final VarHandle CHANGED_COLUMN =
      handle(AlterTableAlterColumn.class, "newColumn", Column.class);
  private static final VarHandle SET_EXPRESSION =
      handle(AlterTableAlterColumn.class, "defaultExpression", Expression.class);
  private static final VarHandle DOMAIN_EXPRESSION =
      handle(AlterDomainExpressions.class, "expression", Expression.class);
  private static final VarHandle USED_EXPRESSION =
      handle(AlterTableAlterColumn.class, "usingExpression", Expression.class);
  private static final VarHandle CONSTRAINTS =
      handle(CommandWithColumns.class, "constraintCommands", ArrayList.class);
  private static final VarHandle CHECK =
      handle(AlterTableAddConstraint.class, "checkExpression", Expression.class);
  private static final VarHandle DOMAIN_CHECK =
      handle(AlterDomainAddConstraint.class, "checkExpression", Expression.class);
  private static final VarHandle CHECKS_VALUES =
      flag(AlterDomainAddConstraint.class, "checkExisting");
  private static final VarHandle DOMAIN_CONSTRAINTS =
      handle(CreateDomain.class, "constraintCommands", ArrayList.class);
  private static final VarHandle DOMAIN_TYPE =
      handle(CreateDomain.class, "dataType", TypeInfo.class);
  private static final VarHandle VIEW_NAME = name(CreateView.class, "viewName");
  private static final VarHandle NAMED_COLUMNS =
      handle(TableView.class, "columnTemplates", Column[].class);
  private static final VarHandle PARENT = handle(CreateDomain.class, "parentDomain", Domain.class);
  private static final VarHandle ROLE_NAMES =
      handle(GrantRevoke.class, "roleNames", ArrayList.class);
  private static final VarHandle GRANT_OR_REVOKE =
      handle(GrantRevoke.class, "operationType", int.class);
  private static final VarHandle GRANTEE = handle(GrantRevoke.class, "grantee", RightOwner.class);
  private static final VarHandle VIEW_TEXT = name(CreateView.class, "selectSQL");
  private static final VarHandle VIEW_QUERY = handle(CreateView.class, "query", Query.class);
  private static final VarHandle CONSTANT_VALUE =
      handle(CreateConstant.class, "expression", Expression.class);
  private static final VarHandle CONSTRAINT_UNLESS_THERE =
      flag(AlterTableAddConstraint.class, "ifNotExists");
  private static final VarHandle NEW_CONSTRAINT =
      name(AlterTableAddConstraint.class, "constraintName");
  private static final VarHandle CONSTRAINT_IF_THERE =
      flag(AlterTableDropConstraint.class, "ifExists");
  private static final VarHandle OLD_CONSTRAINT =
      name(AlterTableDropConstraint.class, "constraintName");
  private static final VarHandle CONSTRAINT_TABLE =
      name(AlterTableDropConstraint.class.getSuperclass(), "tableName");

  private static final VarHandle ALTERED_TABLE =
      name(AlterTableRename.class.getSuperclass(), "tableName");
  private static final VarHandle NEW_TABLE_NAME = name(AlterTableRename.class, "newTableName");
  private static final VarHandle OLD_COLUMN_NAME = name(AlterTableRenameColumn.class, "oldName");
  private static final VarHandle RENAMED_SCHEMA =
      handle(AlterSchemaRename.class, "oldSchema", Schema.class);
  private static final VarHandle DROPPED_SCHEMA = name(DropSchema.class, "schemaName");
  private static final VarHandle ALTERED_DOMAIN = name(AlterDomain.class, "domainName");

  private H2Definitions() {}

  private static VarHandle flag(Class<?> owner, String field) {
    return handle(owner, field, boolean.class);
  }

  private static VarHandle name(Class<?> owner, String field) {
    return handle(owner, field, String.class);
  }

  private static VarHandle handle(Class<?> owner, String field, Class<?> type) {
    return H2Fields.field(owner, field, type);
  }

  /** True if H2 would do nothing for this definition, and would not refuse it either. */
  public static boolean changesNothing(SessionLocal session, Prepared definition) {
    if (definition instanceof NoOperation) {
      return true;
    }
    if (definition instanceof CreateTable table) {
      return (boolean) TABLE_UNLESS_THERE.get(table) && isThere(session, table);
    }
    if (definition instanceof CreateIndex index) {
      String name = (String) INDEX_NAME.get(index);
      return (boolean) INDEX_UNLESS_THERE.get(index)
          && name != null
          && schemaOf(index).findIndex(session, name) != null;
    }
    if (definition instanceof CreateSchema schema) {
      Database database = session.getDatabase();
      return (boolean) SCHEMA_UNLESS_THERE.get(schema)
          && database.findSchema((String) SCHEMA_NAME.get(schema)) != null
          // H2 looks for the owner first
          && database.findUserOrRole((String) SCHEMA_OWNER.get(schema)) != null;
    }
    if (definition instanceof AlterTableAlterColumn columns) {
      return altersNothing(session, columns);
    }
    if (definition instanceof AlterTableAddConstraint constraint) {
      String name = (String) NEW_CONSTRAINT.get(constraint);
      return (boolean) CONSTRAINT_UNLESS_THERE.get(constraint)
          && name != null
          && schemaOf(constraint).findConstraint(session, name) != null;
    }
    return definition instanceof AlterTableDropConstraint constraint
        && dropsNothing(session, constraint);
  }

  /**
   * True if the table exists, for which H2 refuses this definition before it checks anything else.
   */
  public static boolean isThere(SessionLocal session, CreateTable definition) {
    return tableOf(session, definition) != null;
  }

  /** The table that has the name of the table to be created, or null. */
  public static @Nullable Table tableOf(SessionLocal session, CreateTable definition) {
    CreateTableData data = (CreateTableData) TABLE_DATA.get(definition);
    return find(session, definition, data.tableName);
  }

  /** Makes ALTER DOMAIN ... ADD CHECK leave existing values unchecked. */
  public static boolean takeCheck(AlterDomainAddConstraint definition) {
    boolean checks = (boolean) CHECKS_VALUES.get(definition);
    definition.setCheckExisting(false);
    return checks;
  }

  /** The rule that a definition has added to a domain, or null. */
  public static @Nullable ConstraintDomain ruleOf(
      SessionLocal session, AlterDomainAddConstraint definition) {
    String name = definition.getConstraintName();
    Constraint made = name == null ? null : schemaOf(definition).findConstraint(session, name);
    return made instanceof ConstraintDomain rule ? rule : null;
  }

  private static boolean altersNothing(SessionLocal session, AlterTableAlterColumn definition) {
    Table table = find(session, definition, (String) COLUMN_TABLE.get(definition));
    if (table == null) {
      return false;
    }
    return switch (definition.getType()) {
      case CommandInterface.ALTER_TABLE_ADD_COLUMN -> {
        List<Column> columns = newColumns(definition);
        yield (boolean) COLUMN_UNLESS_THERE.get(definition)
            // H2 observes IF NOT EXISTS for a single column only
            && columns.size() == 1
            && table.doesColumnExist(columns.get(0).getName());
      }
      case CommandInterface.ALTER_TABLE_DROP_COLUMN -> false;
      default -> alteredColumn(definition) == null;
    };
  }

  private static boolean dropsNothing(SessionLocal session, AlterTableDropConstraint definition) {
    if (!(boolean) CONSTRAINT_IF_THERE.get(definition)) {
      return false;
    }
    Table table = find(session, definition, (String) CONSTRAINT_TABLE.get(definition));
    Constraint named =
        schemaOf(definition).findConstraint(session, (String) OLD_CONSTRAINT.get(definition));
    return table != null
        && (named == null
            || named.getConstraintType() == Constraint.Type.DOMAIN
            || !named.getTable().equals(table));
  }

  /** The table or view that a definition renames, or null if there is none of that name. */
  public static @Nullable Table renamedTable(SessionLocal session, AlterTableRename definition) {
    return find(session, definition, (String) ALTERED_TABLE.get(definition));
  }

  /** The table whose column a definition renames, or null if there is none of that name. */
  public static @Nullable Table renamedTable(
      SessionLocal session, AlterTableRenameColumn definition) {
    return find(session, definition, (String) ALTERED_TABLE.get(definition));
  }

  /** The new name of a table or view. */
  public static String newNameOf(AlterTableRename definition) {
    return (String) NEW_TABLE_NAME.get(definition);
  }

  /** The name of a column before it is renamed. */
  public static String oldNameOf(AlterTableRenameColumn definition) {
    return (String) OLD_COLUMN_NAME.get(definition);
  }

  /** The schema that a definition renames. */
  public static Schema schemaOf(AlterSchemaRename definition) {
    return (Schema) RENAMED_SCHEMA.get(definition);
  }

  /**
   * The tables with columns of a domain that a definition alters or drops, or of a domain that
   * narrows this domain.
   */
  public static Collection<Table> tablesOfDomains(SessionLocal session, Prepared definition) {
    Predicate<Domain> changed;
    if (definition instanceof AlterDomain alter) {
      Domain altered = schemaOf(alter).findDomain((String) ALTERED_DOMAIN.get(alter));
      changed = domain -> domain.equals(altered);
    } else if (definition instanceof DropSchema drop) {
      Schema dropped = schemaOf(session, drop);
      changed = domain -> domain.getSchema().equals(dropped);
    } else {
      return List.of();
    }
    Set<Table> found = new LinkedHashSet<>();
    for (Table table : session.getDatabase().getAllTablesAndViews()) {
      for (Column column : table.getColumns()) {
        for (Domain domain = column.getDomain(); domain != null; domain = domain.getDomain()) {
          if (changed.test(domain)) {
            found.add(table);
          }
        }
      }
    }
    return found;
  }

  /** The schema that a definition drops, or null if there is none of that name. */
  public static @Nullable Schema schemaOf(SessionLocal session, DropSchema definition) {
    return session.getDatabase().findSchema((String) DROPPED_SCHEMA.get(definition));
  }

  /** The name of a view to be created. */
  public static String nameOf(CreateView definition) {
    return (String) VIEW_NAME.get(definition);
  }

  /** The view that a definition replaces, or null. */
  public static @Nullable TableView replacedBy(SessionLocal session, CreateView definition) {
    return find(session, definition, nameOf(definition)) instanceof TableView view ? view : null;
  }

  /** The query of the view; null if FORCE creates the view, and what it uses is missing. */
  public static @Nullable Query queryOf(CreateView definition) {
    return (@Nullable Query) VIEW_QUERY.get(definition);
  }

  /** The query of the view, as it was written. */
  public static String textOf(CreateView definition) {
    return (String) VIEW_TEXT.get(definition);
  }

  /** Makes a CHECK evaluate an expression, which it reads from this text. */
  public static void replaceCheck(SessionLocal session, ConstraintCheck check, String text) {
    TableFilter filter =
        new TableFilter(session, check.getTable(), null, /* rightsChecked= */ true, null, 0, null);
    Expression expression = RuleWithQuery.of(new Parser(session).parseExpression(text));
    expression.mapColumns(filter, 0, Expression.MAP_INITIAL);
    check.setExpression(expression.optimize(session));
    check.setTableFilter(filter);
  }

  /** The query of a view to be created, as H2 would keep it. */
  public static String sqlOf(CreateView definition) {
    Query query = queryOf(definition);
    return query == null ? textOf(definition) : query.getPlanSQL(HasSQL.DEFAULT_SQL_FLAGS);
  }

  /** The names that the definition of a view gives to its columns; null if the query does. */
  static @Nullable List<String> namedColumns(TableView view) {
    Column[] named = (Column @Nullable []) NAMED_COLUMNS.get(view);
    return named == null ? null : Stream.of(named).map(Column::getName).toList();
  }

  /** The domain that a domain to be created narrows, or null. */
  public static @Nullable Domain parentOf(CreateDomain definition) {
    return (@Nullable Domain) PARENT.get(definition);
  }

  /** The names of the roles that a GRANT grants; none for another statement. */
  public static List<String> rolesGrantedBy(GrantRevoke statement) {
    List<?> names = (List<?>) ROLE_NAMES.get(statement);
    boolean grants = (int) GRANT_OR_REVOKE.get(statement) == CommandInterface.GRANT;
    return names == null || !grants ? List.of() : names.stream().map(String.class::cast).toList();
  }

  /** The user or role to which a GRANT grants. */
  public static RightOwner granteeOf(GrantRevoke statement) {
    return (RightOwner) GRANTEE.get(statement);
  }

  /** The types of the columns, domains and constants that a definition writes out. */
  public static List<TypeInfo> newTypes(SessionLocal session, Prepared definition) {
    List<TypeInfo> types = new ArrayList<>();
    if (definition instanceof CreateTable table) {
      CreateTableData data = (CreateTableData) TABLE_DATA.get(table);
      data.columns.forEach(column -> types.add(column.getType()));
    } else if (definition instanceof CreateDomain domain) {
      types.add((TypeInfo) DOMAIN_TYPE.get(domain));
    } else if (definition instanceof CreateConstant constant) {
      // H2 optimizes the value when it runs the statement; before that the value has no type
      Expression value = ((Expression) CONSTANT_VALUE.get(constant)).optimize(session);
      constant.setExpression(value);
      types.add(value.getType());
    } else if (definition instanceof AlterTableAlterColumn columns) {
      Column changed = changedColumn(columns);
      if (changed != null) {
        types.add(changed.getType());
      }
      newColumns(columns).forEach(column -> types.add(column.getType()));
    }
    return types;
  }

  /** The table that a definition alters, or null. */
  public static @Nullable Table alteredTable(SessionLocal session, Prepared definition) {
    if (definition instanceof AlterTableAlterColumn columns) {
      return find(session, columns, (String) COLUMN_TABLE.get(columns));
    }
    return definition instanceof AlterTableAddConstraint constraint
        ? find(session, constraint, (String) CONSTRAINT_TABLE.get(constraint))
        : null;
  }

  /** The rows of the table that a definition goes through from end to end; 0 for others. */
  public static long rowsGoneThrough(SessionLocal session, Prepared definition) {
    Table table =
        definition instanceof CreateIndex index
            ? find(session, index, (String) INDEX_TABLE.get(index))
            : alteredTable(session, definition);
    return table == null ? 0 : table.getRowCountApproximation(session);
  }

  /** The columns to which the expressions of a definition belong. */
  public static List<Column> givenColumns(Prepared definition) {
    List<Column> given = new ArrayList<>();
    if (definition instanceof AlterTableAlterColumn columns) {
      Column altered = alteredColumn(columns);
      Column changed = changedColumn(columns);
      if (changed != null || altered != null) {
        given.add(changed == null ? altered : changed);
      }
      given.addAll(newColumns(columns));
    }
    return given;
  }

  /** The expressions that a definition gives to an existing table or domain. */
  public static List<Expression> newExpressions(Prepared definition) {
    List<@Nullable Expression> found = new ArrayList<>();
    if (definition instanceof AlterTableAlterColumn columns) {
      found.add((@Nullable Expression) SET_EXPRESSION.get(columns));
      for (Column column : givenColumns(columns)) {
        found.add(column.getEffectiveDefaultExpression());
        found.add(column.getEffectiveOnUpdateExpression());
      }
      found.addAll(checksOf(columns));
    } else if (definition instanceof AlterTableAddConstraint constraint) {
      found.add(checkOf(constraint));
    } else if (definition instanceof AlterDomainExpressions domain) {
      found.add((@Nullable Expression) DOMAIN_EXPRESSION.get(domain));
    }
    List<Expression> given = new ArrayList<>();
    for (Expression expression : found) {
      if (expression != null) {
        given.add(expression);
      }
    }
    return given;
  }

  /** The sequences that the columns draw from which a definition makes or changes. */
  public static Set<Sequence> sequencesStoredBy(Prepared definition) {
    List<Column> columns = new ArrayList<>(givenColumns(definition));
    if (definition instanceof CreateTable table) {
      columns.addAll(((CreateTableData) TABLE_DATA.get(table)).columns);
    }
    Set<Sequence> found = new LinkedHashSet<>();
    for (Column column : columns) {
      addSequences(column.getEffectiveDefaultExpression(), found);
      addSequences(column.getEffectiveOnUpdateExpression(), found);
    }
    return found;
  }

  private static void addSequences(@Nullable Expression expression, Set<Sequence> found) {
    if (expression != null) {
      for (Object part : H2Parts.within(expression)) {
        if (part instanceof SequenceValue value) {
          found.add(H2Statements.sequenceOf(value));
        }
      }
    }
  }

  /** The columns that a definition adds to a table. */
  public static List<Column> newColumns(AlterTableAlterColumn definition) {
    List<?> added = (@Nullable List<?>) NEW_COLUMNS.get(definition);
    return added == null ? List.of() : added.stream().map(Column.class::cast).toList();
  }

  /** The expression after USING, or null. */
  public static @Nullable Expression usingOf(AlterTableAlterColumn definition) {
    return (@Nullable Expression) USED_EXPRESSION.get(definition);
  }

  /** The expression after CHECK; null for another constraint. */
  public static @Nullable Expression checkOf(AlterTableAddConstraint definition) {
    return (@Nullable Expression) CHECK.get(definition);
  }

  /** The expressions after CHECK where a domain is created, or gets a constraint. */
  public static List<Expression> checksOfDomain(Prepared definition) {
    if (definition instanceof AlterDomainAddConstraint constraint) {
      return List.of((Expression) DOMAIN_CHECK.get(constraint));
    }
    List<?> constraints =
        definition instanceof CreateDomain domain
            ? (@Nullable List<?>) DOMAIN_CONSTRAINTS.get(domain)
            : null;
    return constraints == null
        ? List.of()
        : constraints.stream()
            .map(constraint -> (Expression) DOMAIN_CHECK.get((AlterDomainAddConstraint) constraint))
            .toList();
  }

  /** The expressions after CHECK of the columns that a definition adds. */
  public static List<Expression> checksOf(AlterTableAlterColumn definition) {
    List<Expression> checks = new ArrayList<>();
    List<?> constraints = (@Nullable List<?>) CONSTRAINTS.get(definition);
    for (Object constraint : constraints == null ? List.of() : constraints) {
      Expression check = constraint instanceof AlterTableAddConstraint one ? checkOf(one) : null;
      if (check != null) {
        checks.add(check);
      }
    }
    return checks;
  }

  /** The number of constraints that a definition makes, those of its columns included. */
  public static int constraintsOf(CommandWithColumns definition) {
    List<?> constraints = (@Nullable List<?>) CONSTRAINTS.get(definition);
    return constraints == null ? 0 : constraints.size();
  }

  /** The column that a definition alters, or null. */
  public static @Nullable Column alteredColumn(Prepared definition) {
    return definition instanceof AlterTableAlterColumn columns
        ? (@Nullable Column) ALTERED_COLUMN.get(columns)
        : null;
  }

  /** The new form of the column that a definition alters, or null if the column keeps its type. */
  public static @Nullable Column changedColumn(Prepared definition) {
    return definition instanceof AlterTableAlterColumn columns
        ? (@Nullable Column) CHANGED_COLUMN.get(columns)
        : null;
  }

  /**
   * Makes a GLOBAL TEMPORARY table an ordinary one. In H2 all sessions share such a table, and a
   * restart removes it. A replicated database has no restart that its clients could see. As a
   * temporary table it would be in no snapshot.
   */
  public static void makePermanent(CreateTable definition) {
    CreateTableData data = (CreateTableData) TABLE_DATA.get(definition);
    if (data.temporary && data.globalTemporary) {
      definition.setTemporary(false);
      definition.setGlobalTemporary(false);
    }
  }

  private static @Nullable Table find(SessionLocal session, SchemaCommand of, String name) {
    return schemaOf(of).resolveTableOrView(session, name);
  }

  /** The schema that a definition names, or the current one. */
  public static Schema schemaOf(SchemaCommand definition) {
    return (Schema) SCHEMA.get(definition);
  }
}
