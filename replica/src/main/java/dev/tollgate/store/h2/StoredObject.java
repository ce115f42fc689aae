package dev.tollgate.store.h2;

import static java.util.Objects.requireNonNull;

import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.h2.command.Prepared;
import org.h2.constraint.Constraint;
import org.h2.engine.DbObject;
import org.h2.engine.SessionLocal;
import org.h2.expression.Expression;
import org.h2.index.Index;
import org.h2.schema.Domain;
import org.h2.schema.Sequence;
import org.h2.table.Column;
import org.h2.table.Table;
import org.h2.util.StringUtils;
import org.jspecify.annotations.Nullable;

/**
 * One object of a database that a statement makes.
 *
 * @param id the number that H2 has given to the object
 * @param name names the object in messages
 * @param statement makes the object, without what {@link StoredExpression} has of it
 * @param sql as H2 would re-create the object
 * @param comparable the SQL that has to be the same on every replica, or null
 */
public record StoredObject(
    int id, String name, String statement, String sql, @Nullable String comparable)
    implements StoredDefinition {
  public StoredObject {
    requireNonNull(name, "name");
    requireNonNull(statement, "statement");
    requireNonNull(sql, "sql");
  }

  /** Returns null for an object that H2 does not re-create by itself. */
  static @Nullable StoredObject of(DbObject object) {
    String sql = createSql(object);
    return sql == null
        ? null
        : new StoredObject(
            object.getId(),
            kindOf(object) + ' ' + StoredView.quoted(object),
            statementOf(object, sql),
            sql,
            comparableSql(object, sql));
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

  private static @Nullable String createSql(DbObject object) {
    return object instanceof Sequence sequence
        ? H2Sequences.createSql(sequence)
        : object.getCreateSQLForMeta();
  }

  private static String statementOf(DbObject object, String sql) {
    if (object instanceof Table table) {
      return isComputed(table) ? withoutExpressions(table) : sql;
    }
    return object instanceof Domain domain ? withoutExpressions(domain) : sql;
  }

  private static boolean isComputed(Table table) {
    for (Column column : table.getColumns()) {
      if (StoredExpression.isComputed(column.getDefaultExpression())
          || StoredExpression.isComputed(column.getOnUpdateExpression())) {
        return true;
      }
    }
    return false;
  }

  /** The CREATE TABLE of a table, where identity columns name their sequences. */
  private static String withoutExpressions(Table table) {
    return createTable(
        "CREATE MEMORY TABLE ",
        table,
        column -> without(column, StoredExpression::isComputed).getCreateSQL(/* forMeta= */ true));
  }

  private static String withoutExpressions(Domain domain) {
    return without(domain, StoredExpression::isComputed).getCreateSQL();
  }

  /**
   * SQL that makes a table.
   *
   * @param create the words before the name of the table
   * @param definition what it says of a column, with the name of the column
   */
  public static String createTable(
      String create, Table table, Function<Column, String> definition) {
    StringBuilder sql = new StringBuilder(create).append(StoredView.quoted(table));
    if (table.getComment() != null) {
      StringUtils.quoteStringSQL(sql.append(" COMMENT "), table.getComment());
    }
    return Stream.of(table.getColumns())
        .map(definition)
        .collect(Collectors.joining(",\n    ", sql + "(\n    ", "\n)"));
  }

  /** A copy of a column without such expressions. */
  public static Column without(Column column, Predicate<Expression> leftOut) {
    Column bare = column.getClone();
    // setting an expression to itself would make a generated column an ordinary one
    if (isOneOf(leftOut, column.getDefaultExpression())) {
      bare.setDefaultExpression(null, null);
    }
    if (isOneOf(leftOut, column.getOnUpdateExpression())) {
      bare.setOnUpdateExpression(null, null);
    }
    return bare;
  }

  /** A copy of a domain without such expressions, and without its constraints. */
  public static Domain without(Domain domain, Predicate<Expression> leftOut) {
    Domain bare = new Domain(domain.getSchema(), domain.getId(), domain.getName());
    bare.setDataType(domain.getDataType());
    bare.setDomain(domain.getDomain());
    if (!isOneOf(leftOut, domain.getDefaultExpression())) {
      bare.setDefaultExpression(null, domain.getDefaultExpression());
    }
    if (!isOneOf(leftOut, domain.getOnUpdateExpression())) {
      bare.setOnUpdateExpression(null, domain.getOnUpdateExpression());
    }
    return bare;
  }

  private static boolean isOneOf(Predicate<Expression> some, @Nullable Expression expression) {
    return expression != null && some.test(expression);
  }

  static String kindOf(DbObject object) {
    return switch (object.getType()) {
      case DbObject.USER -> "user";
      case DbObject.SCHEMA -> "schema";
      case DbObject.FUNCTION_ALIAS -> "function";
      case DbObject.DOMAIN -> "domain";
      case DbObject.SEQUENCE -> "sequence";
      case DbObject.CONSTANT -> "constant";
      case DbObject.TABLE_OR_VIEW -> "table";
      case DbObject.INDEX -> "index";
      case DbObject.CONSTRAINT -> "constraint";
      case DbObject.ROLE -> "role";
      case DbObject.RIGHT -> "right";
      default -> "object";
    };
  }

  @Override
  public void make(SessionLocal session, int number) {
    // the text of a CHECK is to stay as it is
    RuleWithQuery.withoutPlans(
        session,
        () -> {
          Prepared prepared = session.prepare(statement);
          if (number != 0) {
            prepared.setPersistedObjectId(number);
          }
          prepared.update();
        });
  }
}
