package dev.tollgate.samples.applications;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.zaxxer.hikari.HikariDataSource;
import dev.tollgate.samples.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Two schedulers of db-scheduler, which share their tasks through the database. */
class DbSchedulerTest {
  private static final int TASKS = 20;

  /** The table as the manual of db-scheduler has it for HSQLDB and H2. */
  private static final String TABLE =
      "CREATE TABLE scheduled_tasks (task_name VARCHAR(100), task_instance VARCHAR(100), task_data"
          + " BLOB, execution_time TIMESTAMP(6) WITH TIME ZONE, picked BIT, picked_by VARCHAR(50),"
          + " last_success TIMESTAMP(6) WITH TIME ZONE, last_failure TIMESTAMP(6) WITH TIME ZONE,"
          + " consecutive_failures INT, last_heartbeat TIMESTAMP(6) WITH TIME ZONE, version BIGINT,"
          + " priority INT, state VARCHAR(50), PRIMARY KEY (task_name, task_instance))";

  @RegisterExtension final TestDatabase node = new TestDatabase();

  private final Map<String, Integer> runs = new ConcurrentHashMap<>();

  private final OneTimeTask<Void> counting =
      Tasks.oneTime("counting")
          .execute((instance, context) -> runs.merge(instance.getId(), 1, Integer::sum));

  private Scheduler scheduler(HikariDataSource pool, String name) {
    return Scheduler.create(pool, counting)
        .schedulerName(() -> name)
        .pollingInterval(Duration.ofMillis(100))
        .threads(3)
        .build();
  }

  @Test
  @Tag("cluster")
  void everyTaskRunsOnce() throws Exception {
    node.ask(TABLE);
    try (HikariDataSource pool = Pool.of(node.url())) {
      Scheduler one = scheduler(pool, "one");
      Scheduler two = scheduler(pool, "two");
      try {
        one.start();
        two.start();
        for (int i = 0; i < TASKS; i++) {
          (i % 2 == 0 ? one : two).schedule(counting.instance("task" + i), Instant.now());
          if (i == TASKS / 2) {
            node.loseLeader();
          }
        }
        await().atMost(Duration.ofSeconds(30)).until(() -> runs.size() == TASKS);
        await()
            .atMost(Duration.ofSeconds(10))
            .until(() -> node.ask("SELECT COUNT(*) FROM scheduled_tasks").equals("0"));
        runs.forEach((task, times) -> assertEquals(1, times, task));
      } finally {
        one.stop();
        two.stop();
      }
    }
  }
}
