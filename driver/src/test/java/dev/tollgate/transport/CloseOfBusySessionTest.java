package dev.tollgate.transport;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tollgate.fake.FakeCluster;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CloseOfBusySessionTest {
  private static final int WAITING = 8;

  private static Thread begin(FutureTask<?> task, Thread.State waits) {
    Thread thread = new Thread(task);
    thread.start();
    await().until(() -> thread.getState() == waits);
    return thread;
  }

  /** Otherwise threads that never leave the session idle keep it from being closed. */
  @Test
  void closeWaitsForTheRequestUnderWayAndNotForThoseInLine() throws Exception {
    try (FakeCluster cluster = FakeCluster.start(1)) {
      ClusterSession session =
          Client.standardRegistry()
              .open(
                  Client.target(cluster.node(0).address()),
                  Client.settings(Duration.ofSeconds(5)),
                  Duration.ZERO);
      cluster.node(0).ignoreCancellations(true);
      cluster.node(0).holdStatements();
      FutureTask<Reply> underWay = new FutureTask<>(() -> Client.run(session, "SELECT 1"));
      new Thread(underWay).start();
      await().until(() -> cluster.received().size() == 1);
      List<FutureTask<TransportException>> inLine = new ArrayList<>();
      for (int i = 0; i < WAITING; i++) {
        FutureTask<TransportException> refused =
            new FutureTask<>(
                () ->
                    assertThrows(TransportException.class, () -> Client.run(session, "SELECT 2")));
        begin(refused, Thread.State.WAITING);
        inLine.add(refused);
      }
      FutureTask<Void> close = new FutureTask<>(session::close, null);
      begin(close, Thread.State.TIMED_WAITING);
      cluster.node(0).release();
      close.get(30, TimeUnit.SECONDS);
      assertInstanceOf(Reply.Result.class, underWay.get(30, TimeUnit.SECONDS));
      for (FutureTask<TransportException> each : inLine) {
        assertEquals("08006", each.get(30, TimeUnit.SECONDS).failure().sqlState());
      }
      assertEquals(1, cluster.received().size(), "statements that reached the node");
      assertEquals(1, cluster.others(Request.CloseSession.class).size());
    }
  }
}
