package dev.tollgate.store;

import java.util.List;
import org.h2.engine.SessionLocal;
import org.h2.expression.Expression;
import org.h2.expression.ExpressionColumn;
import org.h2.expression.ExpressionVisitor;
import org.h2.expression.Parameter;
import org.h2.expression.ValueExpression;
import org.h2.table.ColumnResolver;
import org.h2.table.TableFilter;
import org.h2.value.TypeInfo;
import org.h2.value.Value;

/**
 * An expression that tells the running statement's meter how large its values are: for what a query
 * computes and H2 keeps until the statement ends, which may be far more than the statement writes.
 */
final class ValueMeter extends Expression {
  private Expression metered;

  private ValueMeter(Expression metered) {
    this.metered = metered;
  }

  /** Meters those expressions that make new values; columns and constants only refer to theirs. */
  static void attach(List<Expression> expressions) {
    expressions.replaceAll(ValueMeter::of);
  }

  /** The same for an array. */
  static void attach(Expression[] expressions) {
    for (int i = 0; i < expressions.length; i++) {
      expressions[i] = of(expressions[i]);
    }
  }

  private static Expression of(Expression expression) {
    Expression plain = expression.getNonAliasExpression();
    boolean refers =
        plain instanceof ExpressionColumn
            || plain instanceof ValueExpression
            || plain instanceof Parameter
            || expression instanceof ValueMeter;
    return refers ? expression : new ValueMeter(expression);
  }

  @Override
  public Value getValue(SessionLocal session) {
    Value value = metered.getValue(session);
    if (value != null && session.getCurrentCommand() instanceof StoreCommand command) {
      command.meter().wrote(value.getMemory());
    }
    return value;
  }

  @Override
  public TypeInfo getType() {
    return metered.getType();
  }

  @Override
  public void mapColumns(ColumnResolver resolver, int level, int state) {
    metered.mapColumns(resolver, level, state);
  }

  /** H2 prepares the query of CREATE TABLE ... AS and of FINAL TABLE only when it runs them. */
  @Override
  public Expression optimize(SessionLocal session) {
    metered = metered.optimize(session);
    return this;
  }

  @Override
  public void setEvaluatable(TableFilter tableFilter, boolean value) {
    metered.setEvaluatable(tableFilter, value);
  }

  @Override
  public StringBuilder getUnenclosedSQL(StringBuilder builder, int sqlFlags) {
    return metered.getUnenclosedSQL(builder, sqlFlags);
  }

  @Override
  public void updateAggregate(SessionLocal session, int stage) {
    metered.updateAggregate(session, stage);
  }

  @Override
  public boolean isEverything(ExpressionVisitor visitor) {
    return metered.isEverything(visitor);
  }

  @Override
  public int getCost() {
    return metered.getCost();
  }

  @Override
  public Expression getNonAliasExpression() {
    return metered.getNonAliasExpression();
  }

  @Override
  public String getAlias(SessionLocal session, int columnIndex) {
    return metered.getAlias(session, columnIndex);
  }

  @Override
  public String getColumnName(SessionLocal session, int columnIndex) {
    return metered.getColumnName(session, columnIndex);
  }

  @Override
  public String getColumnNameForView(SessionLocal session, int columnIndex, boolean cte) {
    return metered.getColumnNameForView(session, columnIndex, cte);
  }

  @Override
  public int getNullable() {
    return metered.getNullable();
  }

  @Override
  public boolean isConstant() {
    return metered.isConstant();
  }

  @Override
  public int getSubexpressionCount() {
    return 1;
  }

  @Override
  public Expression getSubexpression(int index) {
    return metered;
  }
}
