package dev.tollgate.store.transfer;

import static java.util.Objects.requireNonNull;

import dev.tollgate.store.fence.RowGuard;
import dev.tollgate.store.h2.H2Database;
import dev.tollgate.store.h2.H2Sequences;
import dev.tollgate.store.h2.StoredExpression;
import dev.tollgate.store.h2.StoredObject;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import org.h2.command.query.Query;
import org.h2.constraint.Constraint;
import org.h2.engine.Comment;
import org.h2.engine.Database;
import org.h2.engine.DbObject;
import org.h2.engine.SessionLocal;
import org.h2.expression.Expression;
import org.h2.expression.ExpressionVisitor;
import org.h2.index.Index;
import org.h2.schema.Domain;
import org.h2.schema.Schema;
import org.h2.schema.SchemaObject;
import org.h2.schema.Sequence;
import org.h2.table.Column;
import org.h2.table.ColumnTemplate;
import org.h2.table.Table;
import org.h2.table.TableType;
import org.h2.table.TableView;
import org.h2.util.HasSQL;
import org.jspecify.annotations.Nullable;

/**
 * The definitions of a database as statements that a client can send. An expression with a query
 * may read tables and views that are younger than its owner, so it comes when all of them exist.
 * Constraints come after that, and are not checked against the rows, which need not fulfill a CHECK
 * that reads other tables any more.
 */
final class DumpedDefinitions {
  /** Schemas that only show what the database has. */
  private static final Set<String> READ_ONLY =
      Set.of(H2Database.SYSTEM_SCHEMA, "INFORMATION_SCHEMA");

  private final Database database;
  private final SessionLocal session;
  private final List<String> statements = new ArrayList<>();

  DumpedDefinitions(Database database, SessionLocal session) {
    this.database = requireNonNull(database, "database");
    this.session = requireNonNull(session, "session");
  }

  /** Whether a row of a dump has a value of this column. */
  private static boolean isWritten(Column column) {
    return !column.isGenerated() || isLateGenerated(column);
  }

  /** All columns except those that their table computes when a row is loaded. */
  static List<Column> written(Table table) {
    return List.of(table.getColumns()).stream().filter(DumpedDefinitions::isWritten).toList();
  }

  /** True for an expression that may read tables or views; a word in a string makes it no worse. */
  private static boolean isLate(@Nullable Expression expression) {
    String text = expression == null ? "" : StoredExpression.textOf(expression);
    return text.contains("SELECT") || text.contains("TABLE");
  }

  private static boolean isLateGenerated(Column column) {
    return column.isGenerated() && isLate(column.getDefaultExpression());
  }

  private static boolean readsViews(Column column) {
    LinkedHashSet<DbObject> needed = new LinkedHashSet<>();
    Expression expression = column.getDefaultExpression();
    return expression != null
        && expression.isEverything(ExpressionVisitor.getDependenciesVisitor(needed))
        && needed.stream().anyMatch(TableView.class::isInstance);
  }

  /** True for an expression that may read tables or views, or use any domain. */
  private static boolean isLateOfDomain(@Nullable Expression expression) {
    return isLate(expression)
        || (expression != null && StoredExpression.textOf(expression).contains("CAST("));
  }

  /** What rows need. */
  List<String> beforeRows() {
    for (Schema schema : schemas()) {
      if (!schema.getName().equals("PUBLIC")) {
        statements.add("CREATE SCHEMA " + sql(schema));
      }
    }
    for (Sequence sequence : all(Schema::getAllSequences)) {
      if (!sequence.getBelongsToTable()) {
        statements.add(H2Sequences.createSqlForClients(sequence));
      }
    }
    for (Domain domain : domains()) {
      statements.add(create(domain));
    }
    for (Table table : tables()) {
      statements.add(create(table));
    }
    for (Constraint constraint : all(Schema::getAllConstraints)) {
      if (constraint.getConstraintType() == Constraint.Type.PRIMARY_KEY) {
        statements.add(constraint.getCreateSQLWithoutIndexes());
      }
    }
    return statements;
  }

  /** What would be in the way of rows, or may read them. */
  List<String> afterRows() {
    List<Constraint> constraints = all(Schema::getAllConstraints);
    for (Constraint constraint : constraints) {
      if (constraint.getConstraintType() == Constraint.Type.UNIQUE) {
        statements.add(constraint.getCreateSQLWithoutIndexes());
      }
    }
    for (Index index : all(Schema::getAllIndexes)) {
      String sql = StoredObject.isOfConstraint(index) ? null : index.getCreateSQL();
      if (sql != null) {
        statements.add(sql);
      }
    }
    // H2 alters no column of a table that a view shows
    addGenerated(column -> !readsViews(column));
    for (TableView view : views()) {
      statements.add(view.getCreateSQL(/* orReplace= */ false, /* force= */ false));
    }
    addGenerated(DumpedDefinitions::readsViews);
    for (Domain domain : domains()) {
      String alter = "ALTER DOMAIN " + sql(domain);
      addInherited(alter, domain);
      addLate(alter, domain, DumpedDefinitions::isLateOfDomain);
    }
    for (Table table : tables()) {
      for (Column column : table.getColumns()) {
        if (!column.isGenerated()) {
          addInherited(alter(table, column), column);
          addLate(alter(table, column), column, DumpedDefinitions::isLate);
        }
      }
    }
    for (Constraint constraint : constraints) {
      if (!isKey(constraint)) {
        statements.add(constraint.getCreateSQLWithoutIndexes());
      }
    }
    for (Comment comment : database.getAllComments()) {
      statements.add(comment.getCreateSQL());
    }
    return statements;
  }

  private void addGenerated(Predicate<Column> when) {
    for (Table table : tables()) {
      for (Column column : table.getColumns()) {
        if (isLateGenerated(column) && when.test(column)) {
          statements.add(alter(table, column) + ' ' + definition(column));
        }
      }
    }
  }

  private static String alter(Table table, Column column) {
    return "ALTER TABLE " + sql(table) + " ALTER COLUMN " + sql(column);
  }

  private void addLate(String alter, ColumnTemplate owner, Predicate<Expression> late) {
    Expression value = owner.getDefaultExpression();
    if (value != null && late.test(value)) {
      statements.add(alter + " SET DEFAULT " + StoredExpression.textOf(value));
    }
    Expression onUpdate = owner.getOnUpdateExpression();
    if (onUpdate != null && late.test(onUpdate)) {
      statements.add(alter + " SET ON UPDATE " + StoredExpression.textOf(onUpdate));
    }
  }

  /** H2 copies what a domain gets later to all that inherit it. */
  private void addInherited(String alter, ColumnTemplate heir) {
    for (Domain from = heir.getDomain(); from != null; from = from.getDomain()) {
      if (heir.getDefaultExpression() == null && isLateOfDomain(from.getDefaultExpression())) {
        statements.add(alter + " DROP DEFAULT");
      }
      if (heir.getOnUpdateExpression() == null && isLateOfDomain(from.getOnUpdateExpression())) {
        statements.add(alter + " DROP ON UPDATE");
      }
    }
  }

  private static String create(Domain domain) {
    return StoredObject.without(domain, DumpedDefinitions::isLateOfDomain).getCreateSQL();
  }

  private static String create(Table table) {
    return StoredObject.createTable(
        "CREATE TABLE ",
        table,
        column ->
            sql(column)
                + ' '
                + definition(StoredObject.without(column, DumpedDefinitions::isLate)));
  }

  /** What a CREATE TABLE says of a column after its name, with all options of a sequence. */
  private static String definition(Column column) {
    String sql = column.getCreateSQLWithoutName();
    Sequence sequence = column.getSequence();
    if (sequence == null) {
      return sql;
    }
    String abridged = sequence.getSequenceOptionsSQL(new StringBuilder("(")).append(')').toString();
    int at = sql.indexOf(abridged, sql(typeOf(column)).length());
    return sql.substring(0, at)
        + '('
        + H2Sequences.optionsForClients(sequence)
        + ')'
        + sql.substring(at + abridged.length());
  }

  private static HasSQL typeOf(Column column) {
    return column.getDomain() == null ? column.getType() : column.getDomain();
  }

  private static boolean isKey(Constraint constraint) {
    return constraint.getConstraintType() == Constraint.Type.PRIMARY_KEY
        || constraint.getConstraintType() == Constraint.Type.UNIQUE;
  }

  /** The schemas of clients, by name. */
  private List<Schema> schemas() {
    return database.getAllSchemasNoMeta().stream()
        .filter(schema -> !READ_ONLY.contains(schema.getName()))
        .sorted(Comparator.comparing(Schema::getName))
        .toList();
  }

  /** All objects of a kind, in order of creation as far as H2 remembers it. */
  private <T extends SchemaObject> List<T> all(Function<Schema, Collection<T>> kind) {
    List<T> objects = new ArrayList<>();
    schemas().forEach(schema -> objects.addAll(kind.apply(schema)));
    objects.removeIf(object -> object instanceof RowGuard || object.isTemporary());
    objects.sort(Comparator.comparingInt(DbObject::getId));
    return objects;
  }

  /** All domains; each domain comes after the domain that it narrows. */
  private Set<Domain> domains() {
    Set<Domain> ordered = new LinkedHashSet<>();
    this.<Domain>all(Schema::getAllDomains).forEach(domain -> addWithParents(domain, ordered));
    return ordered;
  }

  private static void addWithParents(Domain domain, Set<Domain> ordered) {
    Domain parent = domain.getDomain();
    if (parent != null) {
      addWithParents(parent, ordered);
    }
    ordered.add(domain);
  }

  private List<Table> tables() {
    return this.<Table>all(schema -> schema.getAllTablesAndViews(session)).stream()
        .filter(table -> table.getTableType() == TableType.TABLE)
        .toList();
  }

  /** All views but broken ones; each view comes after the views that it reads. */
  private Set<TableView> views() {
    Set<TableView> ordered = new LinkedHashSet<>();
    for (Table table : this.<Table>all(schema -> schema.getAllTablesAndViews(session))) {
      if (table instanceof TableView view && !view.isInvalid()) {
        addWithRead(view, ordered, new LinkedHashSet<>());
      }
    }
    return ordered;
  }

  /** The broken views, as comments: no order of statements makes all of them again. */
  String brokenViews() {
    StringBuilder comments = new StringBuilder();
    for (Table table : this.<Table>all(schema -> schema.getAllTablesAndViews(session))) {
      if (table instanceof TableView view && view.isInvalid()) {
        String sql = view.getCreateSQL(/* orReplace= */ false, /* force= */ true);
        comments.append("-- a broken view is left out:\n");
        sql.lines().forEach(line -> comments.append("-- ").append(line).append('\n'));
      }
    }
    return comments.toString();
  }

  private static void addWithRead(TableView view, Set<TableView> ordered, Set<TableView> open) {
    if (!open.add(view)) {
      throw new IllegalStateException("views that read each other: " + open);
    }
    LinkedHashSet<DbObject> read = new LinkedHashSet<>();
    Query query = view.getQuery();
    if (query != null && query.isEverything(ExpressionVisitor.getDependenciesVisitor(read))) {
      for (DbObject object : read) {
        if (object instanceof TableView other && !ordered.contains(other)) {
          addWithRead(other, ordered, open);
        }
      }
    }
    open.remove(view);
    ordered.add(view);
  }

  static String sql(HasSQL object) {
    return object.getSQL(HasSQL.DEFAULT_SQL_FLAGS);
  }
}
