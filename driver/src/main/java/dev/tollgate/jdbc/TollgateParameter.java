package dev.tollgate.jdbc;

import dev.tollgate.value.Parameter;
import org.h2.api.ErrorCode;
import org.h2.expression.ParameterInterface;
import org.h2.message.DbException;
import org.h2.value.TypeInfo;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/** A parameter of a prepared statement. Not thread-safe, as the statement is not. */
final class TollgateParameter implements ParameterInterface {
  private final int position;
  private final Parameter description;
  private @Nullable Value value;

  /**
   * @param position from 1
   */
  TollgateParameter(int position, Parameter description) {
    this.position = position;
    this.description = description;
  }

  @Override
  public void setValue(@Nullable Value newValue, boolean closeOld) {
    value = newValue;
  }

  @Override
  public @Nullable Value getParamValue() {
    return value;
  }

  /** The value that was set. */
  Value requireValue() {
    Value set = value;
    if (set == null) {
      throw DbException.get(ErrorCode.PARAMETER_NOT_SET_1, "#" + position);
    }
    return set;
  }

  @Override
  public void checkSet() {
    requireValue();
  }

  @Override
  public boolean isValueSet() {
    return value != null;
  }

  @Override
  public TypeInfo getType() {
    return value == null ? description.type() : value.getType();
  }

  @Override
  public int getNullable() {
    return description.nullable();
  }
}
