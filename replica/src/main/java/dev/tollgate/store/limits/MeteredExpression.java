package dev.tollgate.store.limits;

import dev.tollgate.store.h2.Nesting;
import dev.tollgate.store.statement.StatementMeter;
import dev.tollgate.store.statement.StoreCommand;
import java.util.function.ObjLongConsumer;
import java.util.function.UnaryOperator;
import org.h2.engine.SessionLocal;
import org.h2.expression.Expression;
import org.h2.expression.ExpressionVisitor;
import org.h2.table.ColumnResolver;
import org.h2.table.TableFilter;
import org.h2.value.TypeInfo;
import org.h2.value.Value;

/** An expression that stands for another expression and sees each of its values. */
abstract class MeteredExpression extends Expression {
  private Expression metered;

  MeteredExpression(Expression metered) {
    this.metered = metered;
  }

  final Expression metered() {
    return metered;
  }

  /**
   * Whether one of this kind stands for an expression, perhaps within others. The rules of a table
   * are looked through by each statement that changes it, and must get their meters once.
   */
  static boolean has(Expression expression, Class<? extends MeteredExpression> kind) {
    Expression inner = expression;
    while (inner instanceof MeteredExpression meter) {
      if (kind.isInstance(meter)) {
        return true;
      }
      inner = meter.metered;
    }
    return false;
  }

  /** Replaces the expression that this one stands for. */
  final void replace(UnaryOperator<Expression> replacement) {
    metered = replacement.apply(metered);
  }

  /**
   * Evaluates what this stands for, and tells what watches the statement how many bytes the value
   * takes. There is no value while an aggregate has no group yet.
   */
  final Value measured(SessionLocal session, ObjLongConsumer<StatementMeter> told) {
    Value value = metered.getValue(session);
    StatementMeter meter = StoreCommand.meterOf(session);
    if (meter != null && value != null) {
      told.accept(meter, Nesting.requireBytes(value));
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
  public String getSchemaName() {
    return metered.getSchemaName();
  }

  @Override
  public String getTableName() {
    return metered.getTableName();
  }

  @Override
  public String getTableAlias() {
    return metered.getTableAlias();
  }

  @Override
  public boolean isIdentity() {
    return metered.isIdentity();
  }

  @Override
  public boolean needParentheses() {
    return metered.needParentheses();
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
