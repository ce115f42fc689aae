package dev.tollgate.node.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tollgate.core.command.Limits;
import org.junit.jupiter.api.Test;

class EventLinesTest {
  /** Values may be secrets; names are what an auditor looks for. */
  @Test
  void definitionIsShownWithoutItsValues() {
    assertEquals(
        "CREATE TABLE T1 ( A VARCHAR(?) DEFAULT ? , \"2b\" INT CHECK ( A > ? ) )",
        EventLines.withoutValues(
            "CREATE TABLE T1 ( A VARCHAR(20) DEFAULT 'it''s 5' , \"2b\" INT CHECK ( A > 17.5 ) )"));
    assertEquals(
        "GRANT SELECT ON T1 TO BILLING", EventLines.withoutValues("GRANT SELECT ON T1 TO BILLING"));
    String name = "X".repeat(2 * Limits.AUDITED_DEFINITION_CHARS);
    assertEquals(
        name.substring(0, Limits.AUDITED_DEFINITION_CHARS), EventLines.withoutValues(name));
  }
}
