package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.UserName;
import dev.tollgate.value.Parameter;
import java.math.BigDecimal;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.h2.value.Value;
import org.h2.value.ValueArray;
import org.h2.value.ValueBigint;
import org.h2.value.ValueBoolean;
import org.h2.value.ValueInteger;
import org.h2.value.ValueNull;
import org.h2.value.ValueNumeric;
import org.h2.value.ValueVarchar;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What clients ask {@code DatabaseMetaData}; H2 trusts its arguments. */
class MetadataArgumentsTest {
  private static final int METHODS = 35;
  private static final int MOST_ARGUMENTS = 7;
  private static final int GET_TABLES = 10;

  private static final List<Value> ODD =
      List.of(
          ValueNull.INSTANCE,
          ValueVarchar.get(""),
          ValueVarchar.get("%"),
          ValueVarchar.get("\\"),
          ValueVarchar.get("T"),
          ValueInteger.get(-1),
          ValueBigint.get(Long.MAX_VALUE),
          ValueNumeric.get(new BigDecimal("1.5")),
          ValueBoolean.TRUE,
          ValueArray.get(new Value[0], null),
          ValueArray.get(new Value[] {ValueNull.INSTANCE}, null),
          ValueArray.get(new Value[] {ValueVarchar.get("BASE TABLE"), ValueNull.INSTANCE}, null),
          ValueArray.get(new Value[] {ValueArray.get(new Value[0], null)}, null));

  private final StoreDriver driver = new StoreDriver();

  @BeforeEach
  void createTable() {
    driver.ok(driver.open(), "CREATE TABLE T(ID INT PRIMARY KEY, S VARCHAR)");
  }

  @AfterEach
  void close() {
    driver.close();
  }

  private byte[] ask(int method, List<? extends Value> arguments) throws SQLException {
    return driver
        .database
        .reader()
        .metadata(
            new SqlReader.Settings("PUBLIC", 0, UserName.ANONYMOUS),
            method,
            Parameter.encodeValues(arguments),
            new SqlReader.Canceller());
  }

  /** Each method, with any number of arguments, each of which is odd while the others are null. */
  @Test
  void oddArgumentsAreAnsweredOrRefused() {
    int answered = 0;
    for (int method = -1; method <= METHODS; method++) {
      for (int count = 0; count <= MOST_ARGUMENTS; count++) {
        for (int place = 0; place < Math.max(1, count); place++) {
          for (Value usual : List.of(ValueNull.INSTANCE, ValueVarchar.get("1"))) {
            for (Value odd : count == 0 ? List.of(ValueNull.INSTANCE) : ODD) {
              List<Value> arguments = new ArrayList<>(Collections.nCopies(count, usual));
              if (count > 0) {
                arguments.set(place, odd);
              }
              answered += isAnswered(method, arguments) ? 1 : 0;
            }
          }
        }
      }
    }
    assertTrue(answered > 1_000, answered + " answers");
  }

  private boolean isAnswered(int method, List<Value> arguments) {
    try {
      ask(method, arguments);
      return true;
    } catch (SQLException refused) {
      String what = "method " + method + " with " + arguments + ": " + refused;
      // 90008: H2 needs to know which table
      assertTrue(Set.of("22", "90").contains(refused.getSQLState().substring(0, 2)), what);
      return false;
    }
  }

  @Test
  void typeOfTablesThatIsNullIsRefused() throws SQLException {
    List<Value> any = Collections.nCopies(3, ValueNull.INSTANCE);
    List<Value> arguments = new ArrayList<>(any);
    arguments.add(ValueArray.get(new Value[] {ValueNull.INSTANCE}, null));
    SQLException refused = assertThrows(SQLException.class, () -> ask(GET_TABLES, arguments));
    assertEquals("22023", refused.getSQLState());
    assertTrue(
        refused
            .getMessage()
            .contains("argument 4 of metadata method 10 has an element that is null"),
        refused.getMessage());
    arguments.set(3, ValueArray.get(new Value[] {ValueVarchar.get("BASE TABLE")}, null));
    assertFalse(ask(GET_TABLES, arguments).length == 0);
  }
}
