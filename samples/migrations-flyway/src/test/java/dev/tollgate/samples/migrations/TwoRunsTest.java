package dev.tollgate.samples.migrations;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class TwoRunsTest {
  @Test
  void eachScriptRunsOnce() throws Exception {
    assertEquals(
        List.of(
            "two runs applied 2 scripts",
            "Oslo has 700000 people",
            "a write of the history without the lock: SQLSTATE 23T02"),
        TwoRuns.migrate("jdbc:tollgate:mem:" + UUID.randomUUID()));
  }
}
