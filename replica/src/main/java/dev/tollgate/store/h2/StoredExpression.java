package dev.tollgate.store.h2;

import static java.util.Objects.requireNonNull;

import java.util.List;
import org.h2.command.Parser;
import org.h2.engine.SessionLocal;
import org.h2.expression.Expression;
import org.h2.expression.ValueExpression;
import org.h2.schema.Domain;
import org.h2.schema.Schema;
import org.h2.schema.SchemaObject;
import org.h2.schema.Sequence;
import org.h2.table.Column;
import org.h2.table.ColumnTemplate;
import org.h2.table.Table;
import org.h2.util.HasSQL;
import org.jspecify.annotations.Nullable;

/**
 * What H2 computes for a column or a domain by an expression that is no constant. It may read
 * tables and views that are younger than the object, and even the object itself, so it is set when
 * all of them exist. The comment of a domain comes then too: columns that are made before the
 * comment do not take it over.
 *
 * @param object the name of a table, domain or sequence
 * @param column the name of a column of the table; null for a domain or sequence
 */
public record StoredExpression(
    Kind kind, String schema, String object, @Nullable String column, String text)
    implements StoredDefinition {
  /** When H2 evaluates the expression. */
  public enum Kind {
    DEFAULT(0, "DEFAULT"),
    ON_UPDATE(1, "ON UPDATE"),
    GENERATED(2, "GENERATED ALWAYS AS"),
    COMMENT(3, "COMMENT"),
    REFERENTIAL_INTEGRITY(4, "REFERENTIAL_INTEGRITY FALSE"),
    /** That a sequence has given its last value. */
    EXHAUSTED(5, "EXHAUSTED");

    private final int code;
    private final String clause;

    Kind(int code, String clause) {
      this.code = code;
      this.clause = clause;
    }

    /** The number of this kind in snapshots. */
    public int code() {
      return code;
    }

    /**
     * The kind with this number.
     *
     * @throws IllegalArgumentException if there is none
     */
    public static Kind of(int code) {
      for (Kind kind : values()) {
        if (kind.code == code) {
          return kind;
        }
      }
      throw new IllegalArgumentException("kind of expression " + code);
    }
  }

  public StoredExpression {
    requireNonNull(kind, "kind");
    requireNonNull(schema, "schema");
    requireNonNull(object, "object");
    requireNonNull(text, "text");
  }

  static void addAll(Table table, List<? super StoredExpression> found) {
    for (Column column : table.getColumns()) {
      addAll(table.getSchema(), table.getName(), column, column.getName(), found);
    }
  }

  static void addAll(Domain domain, List<? super StoredExpression> found) {
    addAll(domain.getSchema(), domain.getName(), domain, null, found);
    addComment(domain, found);
  }

  /** Adds what no statement can say of a sequence. */
  static void addAll(Sequence sequence, List<? super StoredExpression> found) {
    addComment(sequence, found);
    if (H2Sequences.isExhausted(sequence)) {
      found.add(
          new StoredExpression(
              Kind.EXHAUSTED, sequence.getSchema().getName(), sequence.getName(), null, ""));
    }
  }

  /**
   * Adds the comment of a domain or sequence, for which H2 keeps it under a name that may change.
   */
  private static void addComment(SchemaObject object, List<? super StoredExpression> found) {
    if (object.getComment() != null) {
      found.add(
          new StoredExpression(
              Kind.COMMENT,
              object.getSchema().getName(),
              object.getName(),
              null,
              object.getComment()));
    }
  }

  /** Adds that a table does not check its foreign keys, if that is so. */
  static void addUnchecked(Table table, List<? super StoredExpression> found) {
    if (!table.getCheckForeignKeyConstraints()) {
      found.add(
          new StoredExpression(
              Kind.REFERENTIAL_INTEGRITY, table.getSchema().getName(), table.getName(), null, ""));
    }
  }

  private static void addAll(
      Schema schema,
      String object,
      ColumnTemplate template,
      @Nullable String column,
      List<? super StoredExpression> found) {
    boolean generated = template instanceof Column own && own.isGenerated();
    Expression value = template.getDefaultExpression();
    if (isComputed(value)) {
      found.add(
          new StoredExpression(
              generated ? Kind.GENERATED : Kind.DEFAULT,
              schema.getName(),
              object,
              column,
              textOf(value)));
    }
    Expression onUpdate = template.getOnUpdateExpression();
    if (isComputed(onUpdate)) {
      found.add(
          new StoredExpression(Kind.ON_UPDATE, schema.getName(), object, column, textOf(onUpdate)));
    }
  }

  /** True for an expression that is stored by itself, and not with the definition of its owner. */
  static boolean isComputed(@Nullable Expression expression) {
    return expression != null && !(expression instanceof ValueExpression);
  }

  /** The SQL of an expression, without parentheses around it. */
  public static String textOf(Expression expression) {
    return expression.getUnenclosedSQL(new StringBuilder(), HasSQL.DEFAULT_SQL_FLAGS).toString();
  }

  @Override
  public int id() {
    return 0;
  }

  @Override
  public String sql() {
    return name() + ' ' + text;
  }

  /** Null, if the SQL of the owner contains the expression. */
  @Override
  public @Nullable String comparable() {
    return kind == Kind.REFERENTIAL_INTEGRITY || kind == Kind.EXHAUSTED ? sql() : null;
  }

  @Override
  public String name() {
    return kind.clause
        + (column == null ? " of " : " of column ")
        + schema
        + '.'
        + object
        + (column == null ? "" : '.' + column);
  }

  @Override
  public void make(SessionLocal session, int number) {
    Schema in = session.getDatabase().getSchema(schema);
    if (kind == Kind.COMMENT) {
      Domain domain = in.findDomain(object);
      (domain == null ? in.getSequence(object) : domain).setComment(text);
      return;
    }
    if (kind == Kind.EXHAUSTED) {
      H2Sequences.exhaust(in.getSequence(object));
      return;
    }
    if (kind == Kind.REFERENTIAL_INTEGRITY) {
      in.getTableOrView(session, object)
          .setCheckForeignKeyConstraints(session, /* enabled= */ false, /* checkExisting= */ false);
      return;
    }
    ColumnTemplate owner =
        column == null
            ? in.getDomain(object)
            : in.getTableOrView(session, object).getColumn(column);
    Expression expression = RuleWithQuery.of(new Parser(session).parseExpression(text));
    switch (kind) {
      case DEFAULT -> owner.setDefaultExpression(session, expression);
      case ON_UPDATE -> owner.setOnUpdateExpression(session, expression);
      case GENERATED -> {
        ((Column) owner).setGeneratedExpression(expression);
        owner.prepareExpressions(session);
      }
      case COMMENT, REFERENTIAL_INTEGRITY, EXHAUSTED ->
          throw new IllegalStateException(kind + " is no expression");
    }
  }
}
