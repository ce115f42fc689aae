package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.wire.Frame;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.WireWriter;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A request whose bytes take their time. */
@Timeout(60)
class SlowRequestTest {
  private static final int LARGE = 10_000;
  private static final long PAUSE_NANOS = 1_000_000;

  @Test
  void clientHearsThatItsBytesCome() throws Exception {
    try (Node node = new Node(LoopbackSettings.of("n1", null))) {
      node.start();
      try (RawClient client = new RawClient(node.listenAddress())) {
        client.hello();
        WireWriter begin = new WireWriter();
        new Frame(new Request.Prepare("").type(), 7, 0, new byte[LARGE]).writeHeader(begin);
        client.send(begin.toByteArray());
        int sent = 0;
        while (!client.hasHeardSomething()) {
          client.send(new byte[1]);
          sent++;
          LockSupport.parkNanos(PAUSE_NANOS);
        }
        assertTrue(sent < LARGE, "all was sent before anything was heard");
        Reply heard = client.receive();
        assertInstanceOf(Reply.Ok.class, heard);
        client.send(new byte[LARGE - sent]);
        while (heard instanceof Reply.Ok) {
          heard = client.receive();
        }
        assertInstanceOf(Reply.Failure.class, heard);
      }
    }
  }
}
