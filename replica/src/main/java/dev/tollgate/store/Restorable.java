package dev.tollgate.store;

import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.TableName;
import dev.tollgate.store.h2.ConstantSets;
import dev.tollgate.store.h2.Exhausted;
import dev.tollgate.store.h2.H2Database;
import dev.tollgate.store.h2.H2Definitions;
import dev.tollgate.store.h2.HiddenConstraint;
import dev.tollgate.store.h2.RuleWithQuery;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.store.h2.Touched;
import dev.tollgate.store.limits.Views;
import dev.tollgate.wire.SqlState;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.regex.Pattern;
import org.h2.command.CommandInterface;
import org.h2.command.Parser;
import org.h2.command.Prepared;
import org.h2.command.ddl.AlterDomainAddConstraint;
import org.h2.command.ddl.AlterTableAddConstraint;
import org.h2.command.ddl.CreateView;
import org.h2.command.query.Query;
import org.h2.constraint.Constraint;
import org.h2.constraint.ConstraintCheck;
import org.h2.engine.DbObject;
import org.h2.engine.SessionLocal;
import org.h2.expression.Expression;
import org.h2.expression.ValueExpression;
import org.h2.message.DbException;
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
import org.h2.value.ExtTypeInfo;
import org.h2.value.TypeInfo;
import org.jspecify.annotations.Nullable;

/**
 * Keeps what expressions read. A DEFAULT, an ON UPDATE, a GENERATED column and a CHECK are made
 * again from their text when a snapshot is restored, and when H2 rebuilds a table. H2 itself goes
 * on with the objects that they once found, even if a definition has dropped, rebuilt or renamed
 * these objects. Such a definition is refused before H2 runs it.
 *
 * <p>Names decide: H2 writes the full name of each object that an expression reads into its text. A
 * text constant that looks like such a name counts too.
 */
final class Restorable {
  private static final Pattern TABLE = Pattern.compile("\\b(?:FROM|JOIN)\\b");

  /** Finds every subquery that reads a table, and now and then something else. */
  private static final Pattern SUBQUERY =
      Pattern.compile("\\bSELECT\\b|\\(\\s*TABLE\\b", Pattern.CASE_INSENSITIVE);

  /**
   * @param owner the table or domain that has the expression
   * @param role what the expression is, for messages
   */
  private record Reader(SchemaObject owner, String role, String text) {}

  /** What an expression may read beside its own row. */
  private enum Reach {
    NOTHING,
    NAMED_OBJECTS,
    SUBQUERIES
  }

  /** Expressions that were made of their text, and would have the same text if made again. */
  private final Set<Expression> settled = Collections.newSetFromMap(new WeakHashMap<>());

  /** Tables and domains with expressions that may read other objects, in order of their names. */
  private final List<SchemaObject> readers = new ArrayList<>();

  /** Those of the readers whose expressions have subqueries. */
  private final List<SchemaObject> askers = new ArrayList<>();

  /** Known reaches, which renames do not change. */
  private final Map<Expression, Reach> reaches = new WeakHashMap<>();

  /** Lives as long as the database: nested subqueries keep the session that has read them. */
  private final SessionLocal maker;

  private final Views views;

  Restorable(H2Database database, Views views) {
    this.maker = database.openSession();
    this.views = views;
  }

  /**
   * Makes expressions again after a definition, as a restored replica makes them. All with
   * subqueries that read what the definition has touched: H2 would go on with the plan that a
   * subquery got first, even if that plan uses an index that is gone. The others once: H2 may write
   * an expression in another way after it has read it, as LIKE without a wildcard.
   */
  void follow(Touched touched) {
    Set<String> names = new LinkedHashSet<>(touched.names());
    views.showing(names);
    List<SchemaObject> owners = new ArrayList<>(touched.tables());
    owners.addAll(touched.domains());
    owners.removeIf(owner -> isOfSystem(owner.getSchema()));
    forgetGone(readers, owners);
    forgetGone(askers, owners);
    for (SchemaObject owner : concat(askers, owners)) {
      if (owner instanceof Table table) {
        follow(table, names);
      } else {
        follow((Domain) owner, names);
        // H2 keeps these as they were defined
        rulesOf(owner).forEach(rule -> ConstantSets.writeConverted(rule.getExpression()));
      }
    }
    for (SchemaObject owner : owners) {
      Reach reach = reachOf(owner);
      if (reach != Reach.NOTHING) {
        readers.add(owner);
      }
      if (reach == Reach.SUBQUERIES) {
        askers.add(owner);
      }
    }
    readers.sort(Touched.BY_NAME);
  }

  /**
   * Refuses a definition after which the expressions with subqueries would be so many that H2 takes
   * long to make them again. Their texts alone decide, which are the same on every replica.
   *
   * @throws org.h2.message.DbException with SQLState 54001
   */
  void requireFewSubqueries() {
    long weight = 0;
    for (SchemaObject owner : askers) {
      for (Expression expression : expressionsOf(owner)) {
        if (hasSubquery(expression)) {
          String text = textOf(expression);
          weight += text.length() * TABLE.matcher(text).results().count();
        }
      }
    }
    if (weight > Limits.SUBQUERIES_WEIGHT) {
      throw Exhausted.work(
          "the definition was refused and changed nothing, because the subqueries in DEFAULT, ON"
              + " UPDATE, CHECK and GENERATED would have a weight of "
              + weight
              + " in all tables and domains, and may have "
              + Limits.SUBQUERIES_WEIGHT
              + ": their characters, each as often as its expression names a table. Compute the value in"
              + " the statement that writes it");
    }
  }

  /** Removes objects that H2 has removed, and those that are looked at anew. */
  private static void forgetGone(List<SchemaObject> known, List<SchemaObject> anew) {
    known.removeIf(object -> !Touched.exists(object) || anew.contains(object));
  }

  private static List<SchemaObject> concat(List<SchemaObject> some, List<SchemaObject> others) {
    List<SchemaObject> all = new ArrayList<>(some);
    all.addAll(others);
    return all;
  }

  private Reach reachOf(SchemaObject owner) {
    Reach reach = Reach.NOTHING;
    for (Expression expression : expressionsOf(owner)) {
      Reach one = reachOf(expression);
      reach = one.compareTo(reach) > 0 ? one : reach;
    }
    return reach;
  }

  /** What H2 evaluates for the rows of a table, or the values of a domain. */
  static List<Expression> expressionsOf(SchemaObject owner) {
    List<@Nullable Expression> found = new ArrayList<>();
    List<? extends ColumnTemplate> templates =
        owner instanceof Table table ? List.of(table.getColumns()) : List.of((Domain) owner);
    for (ColumnTemplate template : templates) {
      found.add(template.getDefaultExpression());
      found.add(template.getOnUpdateExpression());
    }
    rulesOf(owner).forEach(rule -> found.add(rule.getExpression()));
    List<Expression> expressions = new ArrayList<>();
    for (Expression expression : found) {
      if (expression != null) {
        expressions.add(expression);
      }
    }
    return expressions;
  }

  /** The checks of a table, or the constraints of a domain. */
  private static List<Constraint> rulesOf(SchemaObject owner) {
    List<Constraint> rules = new ArrayList<>();
    if (owner instanceof Table table) {
      for (Constraint constraint : table.getConstraints()) {
        if (isCheck(constraint)) {
          rules.add(constraint);
        }
      }
    } else if (((Domain) owner).getConstraints() != null) {
      rules.addAll(((Domain) owner).getConstraints());
    }
    return rules;
  }

  private void follow(Table table, Set<String> touched) {
    for (Column column : table.getColumns()) {
      follow((ColumnTemplate) column, touched);
    }
    for (Constraint check : rulesOf(table)) {
      if (isToBeMade(check.getExpression(), touched)) {
        H2Definitions.replaceCheck(
            maker, (ConstraintCheck) check, textToMake(check.getExpression()));
        settled.add(check.getExpression());
      }
    }
  }

  private static boolean isCheck(Constraint constraint) {
    return constraint instanceof ConstraintCheck && !(constraint instanceof HiddenConstraint);
  }

  private void follow(ColumnTemplate template, Set<String> touched) {
    Expression value = template.getDefaultExpression();
    if (isToBeMade(value, touched)) {
      Expression again = RuleWithQuery.of(new Parser(maker).parseExpression(textToMake(value)));
      if (template instanceof Column column && column.isGenerated()) {
        column.setGeneratedExpression(again);
        column.prepareExpressions(maker);
      } else {
        template.setDefaultExpression(maker, again);
      }
      settle(template.getDefaultExpression());
    }
    Expression onUpdate = template.getOnUpdateExpression();
    if (isToBeMade(onUpdate, touched)) {
      Expression again = RuleWithQuery.of(new Parser(maker).parseExpression(textToMake(onUpdate)));
      template.setOnUpdateExpression(maker, again);
      settle(template.getOnUpdateExpression());
    }
  }

  private void settle(@Nullable Expression made) {
    if (made != null) {
      settled.add(made);
    }
  }

  private boolean isToBeMade(@Nullable Expression expression, Set<String> touched) {
    return expression != null
        && !(expression instanceof ValueExpression)
        && (!settled.contains(expression)
            || (hasSubquery(expression)
                && touched.stream().anyMatch(textOf(expression)::contains)));
  }

  private boolean hasSubquery(@Nullable Expression expression) {
    return reachOf(expression) == Reach.SUBQUERIES;
  }

  private Reach reachOf(@Nullable Expression expression) {
    return expression == null || expression instanceof ValueExpression
        ? Reach.NOTHING
        : reaches.computeIfAbsent(expression, any -> reachOf(textOf(any)));
  }

  private static Reach reachOf(String text) {
    if (SUBQUERY.matcher(text).find()) {
      return Reach.SUBQUERIES;
    }
    // H2 writes the schema before the name of each object, and nothing before the own columns
    return text.contains("\".") ? Reach.NAMED_OBJECTS : Reach.NOTHING;
  }

  /** The text of which an expression is made anew, in UTC and on every replica alike. */
  private static String textToMake(Expression expression) {
    ConstantSets.writeConverted(expression);
    return textOf(expression);
  }

  private static String textOf(Expression expression) {
    return expression.getUnenclosedSQL(new StringBuilder(), HasSQL.DEFAULT_SQL_FLAGS).toString();
  }

  /**
   * Rejects a table whose columns have types from a query that no SQL names, as the one of {@code
   * ''} or of a product with an array.
   *
   * @throws DbException naming the first such column
   */
  void requireTypes(@Nullable Table made) {
    if (made == null) {
      return;
    }
    for (Column column : made.getColumns()) {
      String type =
          column.getType().getSQL(new StringBuilder(), HasSQL.DEFAULT_SQL_FLAGS).toString();
      if (!isNamed(column.getType(), type)) {
        throw DbException.convert(
            SqlErrors.exception(
                SqlState.NOT_SUPPORTED,
                "the table was not made, because its column "
                    + column.getName()
                    + " would have the type "
                    + type
                    + " of its query, which cannot be written as SQL: CAST the value to the type"
                    + " that the column is to have"));
      }
    }
  }

  private boolean isNamed(TypeInfo type, String name) {
    try {
      Query cast = (Query) maker.prepare("SELECT CAST(NULL AS " + name + ")");
      TypeInfo again = cast.getExpressions().get(0).getType();
      ExtTypeInfo details = again.getExtTypeInfo();
      return again.getSQL(new StringBuilder(), HasSQL.DEFAULT_SQL_FLAGS).toString().equals(name)
          && Objects.equals(
              details == null ? null : details.getClass(),
              type.getExtTypeInfo() == null ? null : type.getExtTypeInfo().getClass());
    } catch (DbException e) {
      return false;
    }
  }

  /**
   * Rejects a definition after which an expression could not be made again.
   *
   * @throws DbException if an expression reads what the definition changes, or a view would show
   *     itself; nothing has changed then
   */
  void require(SessionLocal session, Prepared definition, Operation.ExecuteSql statement) {
    if (definition instanceof AlterDomainAddConstraint rule) {
      requireNoCircle(session, rule, statement);
    }
    if (definition instanceof AlterTableAddConstraint) {
      requireTable(H2Definitions.alteredTable(session, definition));
    }
    requireNoCircleByViews(session, definition, statement);
    if (!keepsNames(definition.getType())) {
      requireUnread(session, definition, statement);
    }
  }

  /**
   * Rejects a CHECK of a view: H2 never checks it, and keeps it when the view loses its columns.
   */
  private static void requireTable(@Nullable Table altered) {
    if (altered != null && altered.getTableType() == TableType.VIEW) {
      throw SqlErrors.unrestorable(
          "the definition was refused and changed nothing, because "
              + describe(altered)
              + " has no constraints: add the constraint to a table that the"
              + " view reads");
    }
  }

  /**
   * Rejects an expression that reads its own table by a view. H2 asks such a table for what it
   * depends on, the view asks the table again, and so on until the stack is full.
   */
  private void requireNoCircleByViews(
      SessionLocal session, Prepared definition, Operation.ExecuteSql statement) {
    List<String> texts = new ArrayList<>();
    for (Expression expression : H2Definitions.newExpressions(definition)) {
      if (reachOf(expression) == Reach.SUBQUERIES) {
        texts.add(textOf(expression));
      }
    }
    if (texts.isEmpty()) {
      return;
    }
    Map<String, DbObject> owners = new LinkedHashMap<>();
    add(H2Definitions.alteredTable(session, definition), owners);
    if (owners.isEmpty()) {
      Map<String, DbObject> named = new LinkedHashMap<>();
      statement.targets().forEach(target -> addNamed(session, target, named));
      addTablesOf(session, named, owners);
    }
    Map<String, DbObject> reading = new LinkedHashMap<>(owners);
    addViewsOf(reading);
    reading.keySet().removeAll(owners.keySet());
    for (Map.Entry<String, DbObject> view : reading.entrySet()) {
      if (texts.stream().anyMatch(text -> text.contains(view.getKey()))) {
        throw SqlErrors.unrestorable(
            "the definition was refused and changed nothing, because an expression would read its"
                + " own table by "
                + describe(view.getValue())
                + ": let it read the table itself, or another one");
      }
    }
  }

  /** Adds all tables with columns of these domains, or of domains that narrow these domains. */
  private static void addTablesOf(
      SessionLocal session, Map<String, DbObject> domains, Map<String, DbObject> found) {
    for (Schema schema : schemas(session)) {
      for (Table table : schema.getAllTablesAndViews(null)) {
        for (Column column : table.getColumns()) {
          for (Domain domain = column.getDomain(); domain != null; domain = domain.getDomain()) {
            if (domains.containsValue(domain)) {
              add(table, found);
            }
          }
        }
      }
    }
  }

  /** Rejects a rule of a domain that would be checked in order to be checked. */
  private static void requireNoCircle(
      SessionLocal session, AlterDomainAddConstraint rule, Operation.ExecuteSql statement) {
    Map<String, DbObject> own = new LinkedHashMap<>();
    statement.targets().forEach(target -> addNamed(session, target, own));
    Map<String, Domain> domains = new LinkedHashMap<>();
    for (Schema schema : schemas(session)) {
      schema.getAllDomains().forEach(domain -> domains.put(named(domain), domain));
    }
    Deque<String> texts = new ArrayDeque<>();
    H2Definitions.checksOfDomain(rule).forEach(check -> texts.add(textOf(check)));
    while (!texts.isEmpty()) {
      String text = texts.pop();
      for (Map.Entry<String, Domain> used : List.copyOf(domains.entrySet())) {
        if (text.contains(used.getKey())) {
          if (own.containsKey(used.getKey())) {
            throw SqlErrors.unrestorable(
                "the rule was not added, because to check a value of "
                    + describe(used.getValue())
                    + " would mean to check the value by the same rule again: let the rule cast to"
                    + " domains that do not depend on this one");
          }
          domains.remove(used.getKey());
          addUsed(used.getValue(), texts);
        }
      }
    }
  }

  /** Adds the texts that name what a domain checks values by. */
  private static void addUsed(Domain domain, Deque<String> texts) {
    if (domain.getDomain() != null) {
      texts.add(named(domain.getDomain()));
    }
    if (domain.getConstraints() != null) {
      domain.getConstraints().forEach(used -> texts.add(textOf(used.getExpression())));
    }
  }

  /** True for definitions after which all objects still exist, with their names and columns. */
  private static boolean keepsNames(int type) {
    return switch (type) {
      case CommandInterface.NO_OPERATION,
          CommandInterface.ALTER_DOMAIN_ADD_CONSTRAINT,
          CommandInterface.ALTER_DOMAIN_DEFAULT,
          CommandInterface.ALTER_DOMAIN_DROP_CONSTRAINT,
          CommandInterface.ALTER_DOMAIN_ON_UPDATE,
          CommandInterface.ALTER_DOMAIN_RENAME_CONSTRAINT,
          CommandInterface.ALTER_INDEX_RENAME,
          CommandInterface.ALTER_SEQUENCE,
          CommandInterface.ALTER_TABLE_ADD_CONSTRAINT_CHECK,
          CommandInterface.ALTER_TABLE_ADD_CONSTRAINT_PRIMARY_KEY,
          CommandInterface.ALTER_TABLE_ADD_CONSTRAINT_REFERENTIAL,
          CommandInterface.ALTER_TABLE_ADD_CONSTRAINT_UNIQUE,
          CommandInterface.ALTER_TABLE_ALTER_COLUMN_DEFAULT,
          CommandInterface.ALTER_TABLE_ALTER_COLUMN_DEFAULT_ON_NULL,
          CommandInterface.ALTER_TABLE_ALTER_COLUMN_DROP_NOT_NULL,
          CommandInterface.ALTER_TABLE_ALTER_COLUMN_NOT_NULL,
          CommandInterface.ALTER_TABLE_ALTER_COLUMN_ON_UPDATE,
          CommandInterface.ALTER_TABLE_ALTER_COLUMN_SELECTIVITY,
          CommandInterface.ALTER_TABLE_ALTER_COLUMN_VISIBILITY,
          CommandInterface.ALTER_TABLE_DROP_CONSTRAINT,
          CommandInterface.ALTER_TABLE_RENAME_CONSTRAINT,
          CommandInterface.ALTER_VIEW,
          CommandInterface.COMMENT,
          CommandInterface.CREATE_DOMAIN,
          CommandInterface.CREATE_INDEX,
          CommandInterface.CREATE_SCHEMA,
          CommandInterface.CREATE_SEQUENCE,
          CommandInterface.CREATE_TABLE,
          CommandInterface.DROP_INDEX,
          CommandInterface.GRANT,
          CommandInterface.REVOKE,
          CommandInterface.TRUNCATE_TABLE ->
          true;
      default -> false;
    };
  }

  /** True for definitions after which an expression still finds the object, under another name. */
  private static boolean renames(int type) {
    return switch (type) {
      case CommandInterface.ALTER_DOMAIN_RENAME,
          CommandInterface.ALTER_SCHEMA_RENAME,
          CommandInterface.ALTER_TABLE_ALTER_COLUMN_RENAME,
          CommandInterface.ALTER_TABLE_RENAME ->
          true;
      default -> false;
    };
  }

  private void requireUnread(
      SessionLocal session, Prepared definition, Operation.ExecuteSql statement) {
    Map<String, DbObject> changed = new LinkedHashMap<>();
    for (Operation.DefinitionTarget target : statement.targets()) {
      addNamed(session, target, changed);
    }
    if (changed.isEmpty()) {
      return;
    }
    Map<String, DbObject> affected = new LinkedHashMap<>(changed);
    addViewsOf(affected);
    if (definition instanceof CreateView view) {
      requireNoCircle(view, affected);
    }
    List<Reader> readers = readers();
    Table altered = H2Definitions.alteredTable(session, definition);
    if (altered != null) {
      // H2 gives them to a copy of the table, which would keep H2 from removing the original
      for (Column column : H2Definitions.givenColumns(definition)) {
        addExpressions(altered, column, readers);
      }
    }
    if (definition.getType() == CommandInterface.DROP_SCHEMA) {
      addUsesOfDomains(session, readers);
    }
    boolean drops = drops(definition.getType());
    Map<String, DbObject> byText = new LinkedHashMap<>(affected);
    if (renames(definition.getType())) {
      byText.keySet().removeAll(changed.keySet());
    }
    for (Reader reader : readers) {
      requireUnread(reader, byText, drops ? changed : Map.of());
    }
  }

  /** H2 drops the domains of a schema although columns and domains elsewhere have their types. */
  private static void addUsesOfDomains(SessionLocal session, List<Reader> readers) {
    for (Schema schema : schemas(session)) {
      for (Table table : schema.getAllTablesAndViews(null)) {
        for (Column column : table.getColumns()) {
          if (column.getDomain() != null) {
            readers.add(new Reader(table, partOf(column), named(column.getDomain())));
          }
        }
      }
      for (Domain domain : schema.getAllDomains()) {
        if (domain.getDomain() != null) {
          readers.add(new Reader(domain, "the type", named(domain.getDomain())));
        }
      }
    }
  }

  private static boolean drops(int type) {
    return switch (type) {
      case CommandInterface.DROP_DOMAIN,
          CommandInterface.DROP_SCHEMA,
          CommandInterface.DROP_SEQUENCE,
          CommandInterface.DROP_TABLE,
          CommandInterface.DROP_VIEW ->
          true;
      default -> false;
    };
  }

  /** Adds all objects of this name, and the sequences that belong to them. */
  private static void addNamed(
      SessionLocal session, Operation.DefinitionTarget target, Map<String, DbObject> found) {
    TableName name = target.name();
    if (target.kind() == Operation.DefinitionTarget.Kind.SCHEMA) {
      Schema schema = session.getDatabase().findSchema(name.name());
      if (schema != null) {
        found.put(named(schema) + '.', schema);
      }
      return;
    }
    Schema schema =
        session
            .getDatabase()
            .findSchema(name.schema() == null ? session.getCurrentSchemaName() : name.schema());
    if (schema == null || target.kind() == Operation.DefinitionTarget.Kind.INDEX) {
      return;
    }
    Table table = schema.findTableOrView(session, name.name());
    add(table, found);
    if (table != null) {
      for (DbObject child : table.getChildren()) {
        if (child instanceof Sequence) {
          add(child, found);
        }
      }
    }
    add(schema.findDomain(name.name()), found);
    add(schema.findSequence(name.name()), found);
  }

  private static void add(@Nullable DbObject object, Map<String, DbObject> found) {
    if (object != null) {
      found.put(named(object), object);
    }
  }

  /** The name of an object as H2 writes it into texts. */
  private static String named(HasSQL object) {
    return object.getSQL(HasSQL.DEFAULT_SQL_FLAGS);
  }

  /** Adds all views that show one of these objects, directly or by other views. */
  private void addViewsOf(Map<String, DbObject> affected) {
    for (TableView view : views.showing(new LinkedHashSet<>(affected.keySet()))) {
      add(view, affected);
    }
  }

  private static void requireNoCircle(CreateView definition, Map<String, DbObject> views) {
    String query = H2Definitions.sqlOf(definition);
    for (Map.Entry<String, DbObject> view : views.entrySet()) {
      if (query.contains(view.getKey())) {
        throw SqlErrors.unrestorable(
            "the view was not replaced, because it would show itself, by "
                + describe(view.getValue())
                + ": let it show tables or other views");
      }
    }
  }

  private static List<Schema> schemas(SessionLocal session) {
    List<Schema> schemas = new ArrayList<>(session.getDatabase().getAllSchemasNoMeta());
    schemas.removeIf(Restorable::isOfSystem);
    return schemas;
  }

  private static boolean isOfSystem(Schema schema) {
    return schema.getName().equals(H2Database.SYSTEM_SCHEMA);
  }

  /** All expressions that may read other objects. */
  private List<Reader> readers() {
    List<Reader> found = new ArrayList<>();
    for (SchemaObject owner : readers) {
      if (owner instanceof Table table) {
        for (Column column : table.getColumns()) {
          addExpressions(table, column, found);
        }
      } else {
        addExpressions(owner, (Domain) owner, found);
      }
      for (Constraint rule : rulesOf(owner)) {
        if (reachOf(rule.getExpression()) != Reach.NOTHING) {
          found.add(
              new Reader(owner, "constraint " + rule.getName(), textOf(rule.getExpression())));
        }
      }
    }
    return found;
  }

  private void addExpressions(SchemaObject owner, ColumnTemplate template, List<Reader> readers) {
    Expression value = template.getDefaultExpression();
    if (reachOf(value) != Reach.NOTHING) {
      boolean generated = template instanceof Column column && column.isGenerated();
      readers.add(
          new Reader(
              owner,
              (generated ? "the expression of " : "the DEFAULT of ") + partOf(template),
              textOf(value)));
    }
    Expression onUpdate = template.getOnUpdateExpression();
    if (reachOf(onUpdate) != Reach.NOTHING) {
      readers.add(new Reader(owner, "ON UPDATE of " + partOf(template), textOf(onUpdate)));
    }
  }

  private static String partOf(ColumnTemplate template) {
    return template instanceof Column column ? "column " + column.getName() : "values";
  }

  private static void requireUnread(
      Reader reader, Map<String, DbObject> affected, Map<String, DbObject> dropped) {
    if (dropped.containsValue(reader.owner())
        || dropped.containsValue(reader.owner().getSchema())) {
      return;
    }
    for (Map.Entry<String, DbObject> object : affected.entrySet()) {
      if (reader.text().contains(object.getKey())) {
        throw SqlErrors.unrestorable(
            "the definition was refused and changed nothing, because "
                + reader.role()
                + " in "
                + describe(reader.owner())
                + " reads "
                + describe(object.getValue())
                + ", and would no longer find what it reads: first drop or change "
                + reader.role());
      }
    }
  }

  private static String describe(DbObject object) {
    String kind =
        switch (object.getType()) {
          case DbObject.SCHEMA -> "schema ";
          case DbObject.DOMAIN -> "domain ";
          case DbObject.SEQUENCE -> "sequence ";
          default -> object instanceof TableView ? "view " : "table ";
        };
    return kind + named(object);
  }
}
