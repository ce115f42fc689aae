package dev.tollgate.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.sql.SqlRefused.Reason;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** A procedure of administration is the whole of a CALL, and nothing else. */
class ProcedureCallTest {
  private final SqlFrontend frontend = new SqlFrontend(0);

  @Test
  void argumentsAreLiteralsAndParameters() {
    Plan.Administer plan =
        assertInstanceOf(
            Plan.Administer.class, frontend.plan("call Add_Node('n4', ?, 'host:7400');"));
    assertEquals(Procedure.ADD_NODE, plan.procedure());
    assertEquals(
        List.of(new Argument.Text("n4"), new Argument.Parameter(0), new Argument.Text("host:7400")),
        plan.arguments());
    assertEquals(1, plan.parameterCount());
    Plan.Administer bare =
        assertInstanceOf(Plan.Administer.class, frontend.plan("CALL take_snapshot()"));
    assertEquals(List.of(), bare.arguments());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          CALL add_node('n4')                         | wrong number of arguments: add_node(node, raft_address, client_address)
          CALL transfer_leadership()                  | wrong number of arguments: transfer_leadership(node)
          CALL resign_leadership('a', 'b')            | wrong number of arguments: resign_leadership(node)
          CALL remove_node(CONCAT('n', '4'))          | is written out or a parameter
          ? = CALL remove_node('n4')                  | write CALL without ? =
          SELECT remove_node('n4')                    | stands alone: CALL remove_node(node)
          INSERT INTO T VALUES(remove_node('n4'))     | stands alone: CALL remove_node(node)
          CALL 1 + remove_node('n4')                  | stands alone: CALL remove_node(node)
          CALL PUBLIC.remove_node('n4')               | call functions without a schema
          """)
  void everythingElseIsRefused(String sql, String why) {
    SqlRefused refused = assertThrows(SqlRefused.class, () -> frontend.plan(sql));
    assertEquals(Reason.NOT_ALLOWED, refused.reason());
    assertTrue(String.valueOf(refused.getMessage()).contains(why), refused.getMessage());
  }

  @ParameterizedTest
  @EnumSource
  void resultIsAViewThatQueriesMayRead(Procedure procedure) {
    assertInstanceOf(Plan.Read.class, frontend.plan(procedure.resultSql()));
  }
}
