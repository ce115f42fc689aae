package dev.tollgate.store.h2;

import org.h2.engine.SessionLocal;
import org.h2.expression.Expression;
import org.h2.expression.ExpressionVisitor;
import org.h2.table.ColumnResolver;
import org.h2.table.TableFilter;
import org.h2.value.TypeInfo;

/** An expression that stands for another expression, and says what the other one says. */
public abstract class StandIn extends Expression {
  private Expression original;

  protected StandIn(Expression original) {
    this.original = original;
  }

  /** The expression that this one stands for. */
  public final Expression original() {
    return original;
  }

  @Override
  public TypeInfo getType() {
    return original.getType();
  }

  @Override
  public void mapColumns(ColumnResolver resolver, int level, int state) {
    original.mapColumns(resolver, level, state);
  }

  @Override
  public Expression optimize(SessionLocal session) {
    original = original.optimize(session);
    return this;
  }

  @Override
  public void setEvaluatable(TableFilter tableFilter, boolean value) {
    original.setEvaluatable(tableFilter, value);
  }

  @Override
  public StringBuilder getUnenclosedSQL(StringBuilder builder, int sqlFlags) {
    return original.getUnenclosedSQL(builder, sqlFlags);
  }

  @Override
  public void updateAggregate(SessionLocal session, int stage) {
    original.updateAggregate(session, stage);
  }

  @Override
  public boolean isEverything(ExpressionVisitor visitor) {
    return original.isEverything(visitor);
  }

  @Override
  public int getCost() {
    return original.getCost();
  }

  @Override
  public Expression getNonAliasExpression() {
    return original.getNonAliasExpression();
  }

  @Override
  public String getSchemaName() {
    return original.getSchemaName();
  }

  @Override
  public String getTableName() {
    return original.getTableName();
  }

  @Override
  public String getTableAlias() {
    return original.getTableAlias();
  }

  @Override
  public boolean isIdentity() {
    return original.isIdentity();
  }

  @Override
  public boolean needParentheses() {
    return original.needParentheses();
  }

  @Override
  public String getAlias(SessionLocal session, int columnIndex) {
    return original.getAlias(session, columnIndex);
  }

  @Override
  public String getColumnName(SessionLocal session, int columnIndex) {
    return original.getColumnName(session, columnIndex);
  }

  @Override
  public String getColumnNameForView(SessionLocal session, int columnIndex, boolean cte) {
    return original.getColumnNameForView(session, columnIndex, cte);
  }

  @Override
  public int getNullable() {
    return original.getNullable();
  }

  @Override
  public boolean isConstant() {
    return original.isConstant();
  }

  @Override
  public int getSubexpressionCount() {
    return 1;
  }

  @Override
  public Expression getSubexpression(int index) {
    return original;
  }
}
