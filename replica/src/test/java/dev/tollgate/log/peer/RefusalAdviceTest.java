package dev.tollgate.log.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.log.peer.PeerGuard.Reason;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What the log tells an operator: nothing that costs the data of a node that goes on. */
class RefusalAdviceTest {
  @ParameterizedTest
  @EnumSource
  void nodeThatGoesOnIsNotToBeEmptied(Reason reason) {
    for (String advice :
        new String[] {
          RefusalAdvice.onRefused("n2", reason, 2),
          RefusalAdvice.onRefusing("n2", reason, true),
          RefusalAdvice.onRefusing("n2", reason, false)
        }) {
      assertFalse(advice.contains("empty directory"), advice);
      assertFalse(advice.contains("may be deleted"), advice);
      assertFalse(advice.endsWith("."), advice);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "SENDER_REMOVED, keep the data of this node",
    "SENDER_UNKNOWN, keep the data of this node",
    "OTHER_CLUSTER, Check the addresses and the data directories of both"
  })
  void nodeSaysHowManyEndIt(Reason reason, String what) {
    String advice = RefusalAdvice.onRefused("n2", reason, 3);
    assertTrue(advice.contains("ends when 3 of its members, without itself"), advice);
    assertTrue(advice.contains(what), advice);
  }

  @ParameterizedTest
  @CsvSource({"true, true", "false, false"})
  void callerThatKnowsAnotherDirectoryIsNamedToTheOperator(boolean knowsCluster, boolean goesOn) {
    String advice = RefusalAdvice.onRefusing("n9", Reason.RECEIVER_UNKNOWN, knowsCluster);
    assertEquals(goesOn, advice.contains("This node goes on"), advice);
    assertEquals(goesOn, advice.contains("If node n9 is no member"), advice);
  }
}
