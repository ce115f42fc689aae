package dev.tollgate.store.h2;

import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.h2.expression.Expression;
import org.h2.expression.ValueExpression;
import org.h2.expression.condition.ConditionInConstantSet;
import org.h2.value.DataType;
import org.h2.value.TypeInfo;
import org.h2.value.Value;
import org.h2.value.ValueNull;

/**
 * The lists of IN conditions in stored expressions. H2 converts a list of constants once, in the
 * time zone of the session that defines the expression, and goes on to write the list as it was. An
 * expression that is made of this text in another zone would have another list.
 */
public final class ConstantSets {
  private static final VarHandle CONVERTED =
      H2Fields.field(ConditionInConstantSet.class, "valueSet", TreeSet.class);
  private static final VarHandle HAS_NULL =
      H2Fields.field(ConditionInConstantSet.class, "hasNull", boolean.class);
  private static final VarHandle TYPE =
      H2Fields.field(ConditionInConstantSet.class, "type", TypeInfo.class);
  private static final VarHandle WRITTEN =
      H2Fields.field(ConditionInConstantSet.class.getSuperclass(), "valueList", ArrayList.class);

  private ConstantSets() {}

  /** Has an expression write the times that its IN lists compare with, instead of the given. */
  public static void writeConverted(Expression expression) {
    for (Object part : H2Parts.within(expression)) {
      if (part instanceof ConditionInConstantSet set) {
        writeConverted(set);
      }
    }
  }

  @SuppressWarnings("unchecked")
  private static void writeConverted(ConditionInConstantSet set) {
    TypeInfo type = (TypeInfo) TYPE.get(set);
    ArrayList<Expression> written = (ArrayList<Expression>) WRITTEN.get(set);
    if (!DataType.isDateTimeType(type.getValueType())
        || written.stream().allMatch(one -> one.getType().getValueType() == type.getValueType())) {
      return;
    }
    List<Expression> converted = new ArrayList<>();
    ((TreeSet<Value>) CONVERTED.get(set)).forEach(one -> converted.add(ValueExpression.get(one)));
    if ((boolean) HAS_NULL.get(set)) {
      converted.add(ValueExpression.get(ValueNull.INSTANCE));
    }
    written.clear();
    written.addAll(converted);
  }
}
