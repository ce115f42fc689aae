package dev.tollgate.samples.shedlock;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.lock.LockClient;
import dev.tollgate.samples.TestDatabase;
import dev.tollgate.shedlock.TollgateLockProvider;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class HourlyInvoicesTest {
  @RegisterExtension final TestDatabase node = new TestDatabase();
  private LockClient locks;

  @BeforeEach
  void open() throws Exception {
    locks = LockClient.connect(node.url());
    HourlyInvoices.createTable(locks);
    HourlyInvoices.createTable(locks);
  }

  @AfterEach
  void close() {
    locks.close();
  }

  private HourlyInvoices process(Duration atLeast) {
    return new HourlyInvoices(new TollgateLockProvider(locks), atLeast);
  }

  @Test
  @Tag("cluster")
  void invoicesAreSentOnceHoweverManyProcessesHaveTheSchedule() throws Throwable {
    HourlyInvoices first = process(Duration.ofMinutes(5));
    assertTrue(first.fire().isPresent());
    node.loseLeader();
    assertEquals(Optional.empty(), process(Duration.ofMinutes(5)).fire());
    assertEquals(Optional.empty(), first.fire());
    assertEquals("1", node.ask("SELECT COUNT(*) FROM invoice"));
  }

  @Test
  void theNextHourHasAHigherToken() throws Throwable {
    HourlyInvoices hourly = process(Duration.ofMillis(200));
    long first = hourly.fire().orElseThrow();
    Optional<?>[] second = {Optional.empty()};
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () -> {
              try {
                second[0] = hourly.fire();
              } catch (Throwable e) {
                throw new AssertionError(e);
              }
              assertTrue(second[0].isPresent());
            });
    assertTrue((long) second[0].get() > first);
    assertEquals("2", node.ask("SELECT COUNT(*) FROM invoice"));
  }

  @Test
  void sampleRuns() throws Throwable {
    HourlyInvoices.main(new String[] {node.url()});
    assertEquals("1", node.ask("SELECT COUNT(*) FROM invoice"));
  }
}
