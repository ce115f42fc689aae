package dev.tollgate.node.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Command;
import dev.tollgate.log.entry.EntryBytes;
import dev.tollgate.store.SqlDatabase;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ReplicaVerifierTest {
  private static final Command VERIFY = new Command.VerifyReplicas(List.of("n1"));

  /** While a node applies its log again after a start, checks may follow one another quickly. */
  @Test
  void lastCheckIsAnsweredHoweverManyCameWhileTheFirstWasComputed() throws Exception {
    try (SqlDatabase database = new SqlDatabase()) {
      Replica replica = new Replica("n1", database);
      BlockingQueue<Long> reported = new LinkedBlockingQueue<>();
      CountDownLatch first = new CountDownLatch(1);
      CountDownLatch release = new CountDownLatch(1);
      replica.reportTo(
          command -> {
            reported.add(((Command.ReportChecksum) command).checkIndex());
            first.countDown();
            await(release);
          });
      replica.apply(1, EntryBytes.of(1, List.of(VERIFY), List.of()));
      assertTrue(first.await(30, TimeUnit.SECONDS));
      for (int i = 2; i <= 5; i++) {
        replica.apply(i, EntryBytes.of(i, List.of(VERIFY), List.of()));
      }
      release.countDown();
      assertEquals(1, reported.poll(30, TimeUnit.SECONDS));
      assertEquals(5, reported.poll(30, TimeUnit.SECONDS));
      replica.close();
      assertTrue(reported.isEmpty(), reported.toString());
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      assertTrue(latch.await(30, TimeUnit.SECONDS));
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
