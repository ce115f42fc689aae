package dev.tollgate.samples.quartz;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import dev.tollgate.samples.TestDatabase;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobExecutionContext;
import org.quartz.Scheduler;
import org.quartz.TriggerBuilder;
import org.quartz.impl.SchedulerRepository;
import org.quartz.impl.StdSchedulerFactory;

/** Two clustered Quartz schedulers, which share their jobs and locks through the database. */
class QuartzTest {
  private static final int JOBS = 20;
  private static final String CLUSTER = "sample";

  /** How often each job ran. Quartz makes the jobs itself. */
  private static final Map<String, Integer> RUNS = new ConcurrentHashMap<>();

  @RegisterExtension final TestDatabase node = new TestDatabase();

  /** Counts. */
  public static final class Counting implements Job {
    @Override
    public void execute(JobExecutionContext context) {
      RUNS.merge(context.getJobDetail().getKey().getName(), 1, Integer::sum);
    }
  }

  private void createTables() throws Exception {
    try (InputStream script =
        Job.class.getResourceAsStream("/org/quartz/impl/jdbcjobstore/tables_h2.sql")) {
      assertNotNull(script);
      String text = new String(script.readAllBytes(), StandardCharsets.UTF_8);
      for (String statement : text.replaceAll("(?m)^(--|#).*$", "").split(";", -1)) {
        String sql = statement.strip();
        if (sql.startsWith("CREATE") || sql.startsWith("ALTER")) {
          node.ask(sql);
        }
      }
    }
  }

  private Scheduler scheduler() throws Exception {
    Properties properties = new Properties();
    properties.putAll(
        Map.ofEntries(
            Map.entry("org.quartz.scheduler.instanceName", CLUSTER),
            Map.entry("org.quartz.scheduler.instanceId", "AUTO"),
            Map.entry("org.quartz.threadPool.threadCount", "3"),
            Map.entry("org.quartz.jobStore.class", "org.quartz.impl.jdbcjobstore.JobStoreTX"),
            Map.entry(
                "org.quartz.jobStore.driverDelegateClass",
                "org.quartz.impl.jdbcjobstore.StdJDBCDelegate"),
            Map.entry("org.quartz.jobStore.isClustered", "true"),
            Map.entry("org.quartz.jobStore.clusterCheckinInterval", "1000"),
            Map.entry("org.quartz.jobStore.dataSource", "db"),
            Map.entry("org.quartz.dataSource.db.provider", "hikaricp"),
            Map.entry("org.quartz.dataSource.db.driver", "dev.tollgate.jdbc.TollgateDriver"),
            Map.entry("org.quartz.dataSource.db.URL", node.url()),
            Map.entry("org.quartz.dataSource.db.maxConnections", "5")));
    Scheduler scheduler = new StdSchedulerFactory(properties).getScheduler();
    // or else the second one in this JVM would be the first again
    SchedulerRepository.getInstance().remove(CLUSTER);
    return scheduler;
  }

  @Test
  @Tag("cluster")
  void everyJobFiresOnce() throws Exception {
    createTables();
    Scheduler one = scheduler();
    Scheduler two = scheduler();
    try {
      one.start();
      two.start();
      for (int i = 0; i < JOBS; i++) {
        (i % 2 == 0 ? one : two)
            .scheduleJob(
                JobBuilder.newJob(Counting.class).withIdentity("job" + i).build(),
                TriggerBuilder.newTrigger().withIdentity("trigger" + i).startNow().build());
        if (i == JOBS / 2) {
          node.loseLeader();
        }
      }
      await().atMost(Duration.ofSeconds(40)).until(() -> RUNS.size() == JOBS);
      await()
          .atMost(Duration.ofSeconds(10))
          .until(() -> node.ask("SELECT COUNT(*) FROM QRTZ_FIRED_TRIGGERS").equals("0"));
      RUNS.forEach((job, runs) -> assertEquals(1, runs, job));
      assertEquals("2", node.ask("SELECT COUNT(*) FROM QRTZ_SCHEDULER_STATE"));
    } finally {
      one.shutdown(true);
      two.shutdown(true);
    }
  }
}
