package dev.tollgate.node.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class ComplaintsTest {
  private final Logger logger = (Logger) LoggerFactory.getLogger(Complaints.class);
  private final ListAppender<ILoggingEvent> log = new ListAppender<>();
  private long nowNanos = Long.MAX_VALUE - 5; // the clock may wrap around
  private final Complaints complaints = new Complaints("n1", () -> nowNanos);

  @BeforeEach
  void listen() {
    log.start();
    logger.addAppender(log);
  }

  @AfterEach
  void listenNoMore() {
    logger.detachAppender(log);
  }

  @Test
  void floodLeavesALineInASecondWhichCountsTheOthers() {
    for (int i = 0; i < 1_000; i++) {
      complaints.log("/10.0.0.1:4711", "sent nonsense");
    }
    assertEquals(Complaints.AT_ONCE, lines().size());
    assertEquals("n1: /10.0.0.1:4711 sent nonsense", lines().get(0));

    nowNanos += TimeUnit.SECONDS.toNanos(1);
    complaints.log("/10.0.0.2:4711", "sent nonsense");
    complaints.log("/10.0.0.3:4711", "sent nonsense");
    assertEquals(
        List.of(
            "n1: /10.0.0.2:4711 sent nonsense (and 980 such lines about clients were left out)"),
        lines().subList(Complaints.AT_ONCE, lines().size()));

    nowNanos += TimeUnit.SECONDS.toNanos(1);
    complaints.log("/10.0.0.4:4711", "sent nonsense");
    assertEquals(
        "n1: /10.0.0.4:4711 sent nonsense (and 1 such lines about clients were left out)",
        lines().get(Complaints.AT_ONCE + 1));
  }

  @Test
  void quietTimesGiveRoomForAllLinesAgain() {
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < Complaints.AT_ONCE; i++) {
        complaints.log("/10.0.0.1:4711", "sent nonsense");
      }
      nowNanos += TimeUnit.HOURS.toNanos(1);
    }
    assertEquals(3 * Complaints.AT_ONCE, lines().size());
  }

  private List<String> lines() {
    return log.list.stream()
        .filter(event -> event.getLevel() == Level.WARN)
        .map(ILoggingEvent::getFormattedMessage)
        .toList();
  }
}
