package dev.tollgate.node.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Limits;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ArrivalsTest {
  private static final int CLIENTS = 100;
  private static final ConnectionLimits LIMITS =
      new ConnectionLimits(
          /* strangers= */ 40,
          /* silenceMillis= */ 10_000,
          /* perUser= */ 99,
          /* statementsPerSecond= */ 0,
          /* queriesAtOnce= */ 1);

  private long nanos = 5;
  private final Arrivals arrivals =
      new Arrivals("n1", CLIENTS, LIMITS, "root"::equals, () -> nanos);

  private EmbeddedChannel stranger() {
    EmbeddedChannel channel = new EmbeddedChannel();
    arrivals.connected(channel);
    return channel;
  }

  private EmbeddedChannel client(String user) {
    EmbeddedChannel channel = stranger();
    assertNull(arrivals.introduced(channel, user));
    return channel;
  }

  private void pass(long millis) {
    nanos += TimeUnit.MILLISECONDS.toNanos(millis);
    arrivals.closeOverdue();
  }

  private EmbeddedChannel strangerFrom(String address) {
    EmbeddedChannel channel =
        new EmbeddedChannel() {
          @Override
          protected SocketAddress remoteAddress0() {
            return isActive() ? new InetSocketAddress(address, 4711) : null;
          }
        };
    arrivals.connected(channel);
    return channel;
  }

  /** One address floods the port: strangers from elsewhere keep their places. */
  @Test
  void strangerReplacesTheOldestOfTheAddressThatHasTheMost() {
    EmbeddedChannel honest = strangerFrom("127.0.0.2");
    List<EmbeddedChannel> flood = new ArrayList<>();
    for (int i = 0; i < 3 * LIMITS.strangers(); i++) {
      flood.add(strangerFrom("127.0.0.3"));
    }
    EmbeddedChannel late = strangerFrom("127.0.0.4");
    assertTrue(honest.isOpen());
    assertTrue(late.isOpen());
    assertEquals(LIMITS.strangers() - 2, flood.stream().filter(EmbeddedChannel::isOpen).count());
    assertTrue(flood.get(flood.size() - 1).isOpen());
    assertNull(arrivals.introduced(honest, "a"));
    arrivals.disconnected(late);
    pass(LIMITS.silenceMillis());
    assertEquals(0, flood.stream().filter(EmbeddedChannel::isOpen).count());
    assertEquals(LIMITS.strangers(), roomThatIsLeft());
  }

  private int roomThatIsLeft() {
    int room = 0;
    EmbeddedChannel first = strangerFrom("127.0.0.5");
    while (first.isOpen()) {
      strangerFrom("127.0.0.5");
      room++;
    }
    return room;
  }

  @Test
  void newestStrangerReplacesTheOldest() {
    EmbeddedChannel client = client("a");
    List<EmbeddedChannel> strangers = new ArrayList<>();
    for (int i = 0; i < LIMITS.strangers() + 3; i++) {
      strangers.add(stranger());
    }
    for (int i = 0; i < strangers.size(); i++) {
      assertEquals(i >= 3, strangers.get(i).isOpen(), "stranger " + i);
    }
    assertTrue(client.isOpen());
    String tooLate = arrivals.introduced(strangers.get(0), "a");
    assertTrue(tooLate != null && tooLate.contains("took too long"), tooLate);
  }

  @Test
  void clientsHaveTheirPlacesWhateverStrangersDo() {
    for (int i = 0; i < CLIENTS; i++) {
      client("user" + i);
      stranger();
    }
    String refused = arrivals.introduced(stranger(), "one more");
    assertNotNull(refused);
    assertTrue(refused.contains("100 connections") && refused.contains("--max-connections"));
  }

  @Test
  void administratorsHaveAFewPlacesMore() {
    for (int i = 0; i < CLIENTS; i++) {
      client("user" + i);
    }
    for (int i = 0; i < Limits.ADMINISTRATOR_CONNECTIONS; i++) {
      client("root");
    }
    String refused = arrivals.introduced(stranger(), "root");
    assertNotNull(refused);
    assertTrue(refused.contains("100 connections"), refused);
    assertNotNull(arrivals.introduced(stranger(), "one more"));
  }

  @Test
  void strangersTakeOnlyPlacesThatAreFreeButForAFew() {
    for (int i = 0; i < CLIENTS - 1; i++) {
      client("user" + i);
    }
    List<EmbeddedChannel> strangers = new ArrayList<>();
    for (int i = 0; i < LIMITS.strangers(); i++) {
      strangers.add(stranger());
    }
    assertEquals(
        Arrivals.LEAST_STRANGERS, strangers.stream().filter(EmbeddedChannel::isOpen).count());
  }

  @Test
  void strangerHasTenSecondsAndAClientAnyTime() {
    EmbeddedChannel client = client("a");
    EmbeddedChannel early = stranger();
    pass(9_000);
    EmbeddedChannel late = stranger();
    assertTrue(early.isOpen());
    pass(1_000);
    assertFalse(early.isOpen());
    assertTrue(late.isOpen());
    pass(9_000);
    assertFalse(late.isOpen());
    pass(1_000_000);
    assertTrue(client.isOpen());
  }

  @Test
  void requestMayNotStop() {
    EmbeddedChannel stops = client("a");
    EmbeddedChannel goesOn = client("a");
    EmbeddedChannel ends = client("a");
    arrivals.requestGoesOn(stops);
    arrivals.requestGoesOn(goesOn);
    arrivals.requestGoesOn(ends);
    pass(9_000);
    arrivals.requestGoesOn(goesOn);
    arrivals.requestIsComplete(ends);
    pass(9_000);
    assertFalse(stops.isOpen());
    assertTrue(goesOn.isOpen());
    assertTrue(ends.isOpen());
  }

  @Test
  void userHasItsShareAndOthersTheirs() {
    List<EmbeddedChannel> clients = new ArrayList<>();
    for (int i = 0; i < LIMITS.perUser(); i++) {
      clients.add(client("greedy"));
    }
    EmbeddedChannel next = stranger();
    String refused = arrivals.introduced(next, "greedy");
    assertTrue(refused != null && refused.contains("--max-connections-per-user"), refused);
    assertNull(arrivals.introduced(next, "other"));
    arrivals.disconnected(clients.get(0));
    client("greedy");
  }

  @Test
  void helloSaidTwiceCountsOnce() {
    EmbeddedChannel channel = client("a");
    assertNull(arrivals.introduced(channel, "a"));
    for (int i = 1; i < LIMITS.perUser(); i++) {
      client("a");
    }
  }
}
