package dev.tollgate.differential;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tollgate.differential.H2Script.Step;
import java.util.List;
import org.junit.jupiter.api.Test;

class H2ScriptTest {
  @Test
  void stepsAreStatementsWithParametersAndDirectives() {
    String text =
        """
        -- a comment
        CREATE TABLE T(
          A INT);
        > ok

        @reconnect
        INSERT INTO T VALUES (?, ?);
        {
        1, "a, b"
        null, 2
        };
        > update count: 2

        SELECT '?';
        >> ?
        """;
    assertEquals(
        List.of(
            new Step("CREATE TABLE T(\nA INT)", List.of()),
            new Step("@reconnect", List.of()),
            new Step(
                "INSERT INTO T VALUES (?, ?)", List.of(List.of("1", "a, b"), List.of("null", "2"))),
            new Step("SELECT '?'", List.of())),
        H2Script.of(text).steps());
  }
}
