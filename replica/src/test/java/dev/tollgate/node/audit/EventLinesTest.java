package dev.tollgate.node.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Limits;
import org.junit.jupiter.api.Test;

class EventLinesTest {
  /** No right hides among others. */
  @Test
  void rightsAreShownWhole() {
    String grant = "Grant SELECT ON T1 , SECRET" + " , T3".repeat(390) + " TO EVE";
    assertEquals(grant, EventLines.withoutValues(grant));
    assertTrue(grant.length() <= Limits.GRANT_CHARS, "length " + grant.length());
  }

  /** Values may be secrets; names are what an auditor looks for. */
  @Test
  void definitionIsShownWithoutItsValues() {
    assertEquals(
        "CREATE TABLE T1 ( A VARCHAR(?) DEFAULT ? , \"2b\" INT CHECK ( A > ? ) )",
        EventLines.withoutValues(
            "CREATE TABLE T1 ( A VARCHAR(20) DEFAULT 'it''s 5' , \"2b\" INT CHECK ( A > 17.5 ) )"));
    assertEquals(
        "CREATE TABLE \"it's 5\"\" x\" ( A VARCHAR DEFAULT ? , B BINARY DEFAULT X? , T2_3 INT )",
        EventLines.withoutValues(
            "CREATE TABLE \"it's 5\"\" x\" ( A VARCHAR DEFAULT 'secret' , B BINARY DEFAULT X'CAFE' ,"
                + " T2_3 INT )"));
    assertEquals(
        "GRANT SELECT ON T1 TO BILLING", EventLines.withoutValues("GRANT SELECT ON T1 TO BILLING"));
    String columns = "CREATE TABLE T ( " + "ABC INT , ".repeat(200) + "Z INT )";
    String shown = EventLines.withoutValues(columns);
    assertTrue(shown.startsWith("CREATE TABLE T "), shown);
    assertTrue(shown.endsWith(" Z INT )"), shown);
    assertTrue(shown.length() < Limits.AUDITED_DEFINITION_CHARS + 10, shown);
  }
}
