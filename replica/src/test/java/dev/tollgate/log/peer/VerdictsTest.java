package dev.tollgate.log.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Limits;
import dev.tollgate.log.peer.PeerGuard.Reason;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class VerdictsTest {
  private static final long WINDOW = TimeUnit.SECONDS.toNanos(Limits.VERDICT_SECONDS);

  private Set<String> current = Set.of("n1", "n2", "n3");
  private long now = Long.MAX_VALUE - WINDOW / 2;

  private final Verdicts verdicts =
      new Verdicts(
          "n1",
          new PeerGuard.Members() {
            @Override
            public boolean contains(String nodeId) {
              return current.contains(nodeId);
            }

            @Override
            public Set<String> current() {
              return current;
            }
          },
          () -> now);

  @Test
  void voicesThatAreFarApartDoNotAddUp() {
    assertFalse(verdicts.isGiven("n2", Reason.SENDER_REMOVED));
    now += WINDOW + 1;
    assertFalse(verdicts.isGiven("n3", Reason.SENDER_REMOVED));
    now += WINDOW;
    assertTrue(verdicts.isGiven("n2", Reason.SENDER_REMOVED));
  }

  @Test
  void voiceOfANodeThatLeftMeanwhileDoesNotCount() {
    current = Set.of("n1", "n2", "n3", "n4");
    assertEquals(3, verdicts.needed());
    assertFalse(verdicts.isGiven("n4", Reason.SENDER_UNKNOWN));
    current = Set.of("n1", "n2", "n3");
    assertEquals(2, verdicts.needed());
    assertFalse(verdicts.isGiven("n3", Reason.SENDER_UNKNOWN));
    assertTrue(verdicts.isGiven("n2", Reason.SENDER_UNKNOWN));
  }

  @Test
  void lastVerdictOfAMemberCounts() {
    assertFalse(verdicts.isGiven("n2", Reason.SENDER_REMOVED));
    assertFalse(verdicts.isGiven("n2", Reason.SENDER_UNKNOWN));
    assertFalse(verdicts.isGiven("n3", Reason.SENDER_REMOVED));
    assertTrue(verdicts.isGiven("n3", Reason.SENDER_UNKNOWN));
    verdicts.takeBack("n2");
    assertFalse(verdicts.isGiven("n3", Reason.SENDER_UNKNOWN));
  }

  @Test
  void nodeWithoutAConfigurationHearsNobody() {
    current = Set.of();
    assertFalse(verdicts.isGiven("n2", Reason.SENDER_REMOVED));
  }
}
