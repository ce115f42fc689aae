package dev.tollgate.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.wire.Frame;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class FormerConnectionsTest {
  private final Timekeeping environment =
      new Timekeeping(new Client.ManualClock(), Timing.STANDARD);
  private final FormerConnections former = new FormerConnections();

  /** The numbers of the connections that were closed, in this order. */
  private final List<Integer> closed = new ArrayList<>();

  private NodeConnection connection(int number) {
    return new NodeConnection(
        "node:" + number,
        new FrameChannel() {
          @Override
          public void send(Frame frame) {}

          @Override
          public Optional<Frame> receive(Duration timeout) {
            return Optional.empty();
          }

          @Override
          public void close() {
            closed.add(number);
          }
        },
        environment,
        0);
  }

  @Test
  void connectionWithoutRowsIsClosed() {
    former.left(1, connection(1));
    assertEquals(List.of(1), closed);
    assertNull(former.find(1));
  }

  @Test
  void connectionWithRowsIsKeptUntilTheLastResultHasEnded() {
    NodeConnection connection = connection(1);
    former.opened(1);
    former.opened(1);
    former.left(1, connection);
    former.ended(1);
    assertEquals(connection, former.find(1));
    assertEquals(List.of(), closed);
    former.ended(1);
    assertNull(former.find(1));
    assertEquals(List.of(1), closed);
    former.ended(1);
    assertFalse(former.hasRows(1));
  }

  @Test
  void resultsThatEndBeforeTheConnectionIsLeftKeepNothing() {
    former.opened(1);
    assertTrue(former.hasRows(1));
    former.ended(1);
    former.left(1, connection(1));
    assertEquals(List.of(1), closed);
  }

  @Test
  void ofMoreConnectionsThanMayBeTheFirstIsClosed() {
    // from a number at which the order of a hash table is another than that of leaving
    int first = 14;
    int last = first + FormerConnections.MOST;
    for (int number = first; number <= last; number++) {
      former.opened(number);
      former.left(number, connection(number));
    }
    assertEquals(List.of(first), closed);
    assertNull(former.find(first));
    former.broken(first + 2);
    assertEquals(List.of(first, first + 2), closed);
    former.close();
    assertEquals(FormerConnections.MOST + 1, closed.size());
    assertNull(former.find(last));
  }
}
