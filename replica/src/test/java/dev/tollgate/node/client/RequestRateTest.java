package dev.tollgate.node.client;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RequestRateTest {
  private static final Request STATEMENT = new Request.Prepare("SELECT 1");

  private long nanos = Long.MAX_VALUE - 5;

  @Test
  void secondFillsTheBucket() {
    RequestRate rate = new RequestRate(10, () -> nanos);
    for (int second = 0; second < 3; second++) {
      for (int i = 0; i < 10; i++) {
        assertNull(rate.admit(STATEMENT));
      }
      Reply.Failure refused = rate.admit(STATEMENT);
      assertNotNull(refused);
      assertTrue(refused.message().contains("more than 10 statements in a second"));
      assertTrue(refused.message().contains("--max-statements-per-second"));
      nanos += TimeUnit.SECONDS.toNanos(1);
    }
  }

  @Test
  void otherRequestsDoNotCount() {
    RequestRate rate = new RequestRate(1, () -> nanos);
    assertNull(rate.admit(STATEMENT));
    assertNull(rate.admit(new Request.Ping()));
    assertNotNull(rate.admit(STATEMENT));
  }

  @Test
  void heartbeatsAreCountedByWhatTheyRenew() {
    RequestRate rate = new RequestRate(0, () -> nanos);
    Request heartbeat = new Request.Heartbeat(Collections.nCopies(100_000, 1L), List.of());
    for (int i = 0; i < 4; i++) {
      assertNull(rate.admit(heartbeat));
    }
    Reply.Failure refused = rate.admit(heartbeat);
    assertNotNull(refused);
    assertTrue(refused.message().contains("more than 400000 sessions and leases"));
    assertNull(rate.admit(STATEMENT));
    nanos += TimeUnit.MILLISECONDS.toNanos(250);
    assertNull(rate.admit(heartbeat));
    assertNotNull(rate.admit(heartbeat));
  }

  @Test
  void watchesAreCountedByTheirLocks() {
    RequestRate rate = new RequestRate(0, () -> nanos);
    Request watch =
        new Request.WatchLocks(Collections.nCopies(4_000, 1L), Collections.nCopies(4_000, 1L));
    for (int i = 0; i < 50; i++) {
      assertNull(rate.admit(watch));
    }
    Reply.Failure refused = rate.admit(watch);
    assertNotNull(refused);
    assertTrue(refused.message().contains("watches more than 200000 locks in a second"));
    nanos += TimeUnit.MILLISECONDS.toNanos(20);
    assertNull(rate.admit(watch));
    assertNotNull(rate.admit(watch));
  }

  @Test
  void zeroIsNoLimit() {
    RequestRate rate = new RequestRate(0, () -> nanos);
    for (int i = 0; i < 100_000; i++) {
      assertNull(rate.admit(STATEMENT));
    }
  }
}
