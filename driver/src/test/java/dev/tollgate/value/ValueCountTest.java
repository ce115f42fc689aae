package dev.tollgate.value;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import org.h2.value.Value;
import org.h2.value.ValueArray;
import org.h2.value.ValueCollectionBase;
import org.h2.value.ValueInteger;
import org.h2.value.ValueRow;
import org.junit.jupiter.api.Test;

/** The values of a set are counted as they would be decoded, whatever their types. */
class ValueCountTest {
  @Test
  void valuesOfEveryTypeArePassedWhole() {
    for (Value value : ValuesTest.values()) {
      byte[] set = Parameter.encodeValues(List.of(value, ValueInteger.get(1)));
      assertEquals(
          valuesIn(value) + 1,
          ValueCount.of(set, Integer.MAX_VALUE),
          () -> value.getType().getTraceSQL());
    }
  }

  private static int valuesIn(Value value) {
    int count = 1;
    if (value instanceof ValueCollectionBase collection) {
      for (Value element : collection.getList()) {
        count += valuesIn(element);
      }
    }
    return count;
  }

  @Test
  void collectionsCountWithTheirElements() {
    Value empty = ValueArray.get(Value.EMPTY_VALUES, null);
    Value row = ValueRow.get(new Value[] {empty, ValueInteger.get(1)});
    assertEquals(4, count(List.of(ValueArray.get(new Value[] {row}, null)), 100));
  }

  @Test
  void countStopsSoonAfterTheLimit() {
    Value[] elements = new Value[60_000];
    Arrays.fill(elements, ValueArray.get(Value.EMPTY_VALUES, null));
    assertEquals(101, count(List.of(ValueArray.get(elements, null)), 100));
  }

  @Test
  void malformedSetsAreCountedUpToTheFault() {
    byte[] set = Parameter.encodeValues(List.of(ValueInteger.get(1), ValueInteger.get(2)));
    for (int length = 0; length < set.length; length++) {
      int count = ValueCount.of(Arrays.copyOf(set, length), 100);
      assertTrue(count <= 2, () -> "of " + set.length + " bytes");
    }
    assertEquals(1, ValueCount.of(new byte[] {0, 2, 99, 0, 0}, 100));
  }

  private static int count(List<Value> values, int most) {
    return ValueCount.of(Parameter.encodeValues(values), most);
  }
}
