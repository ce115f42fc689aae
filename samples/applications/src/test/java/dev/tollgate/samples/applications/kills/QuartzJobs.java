package dev.tollgate.samples.applications.kills;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import javax.sql.DataSource;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobExecutionContext;
import org.quartz.JobExecutionException;
import org.quartz.JobKey;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;
import org.quartz.utils.ConnectionProvider;
import org.quartz.utils.DBConnectionManager;

/** Clustered schedulers of Quartz. A job that its scheduler does not survive is recovered. */
final class QuartzJobs implements Framework {
  private static final Duration CHECK_IN = Duration.ofSeconds(1);

  /** What Quartz adds before it takes a scheduler for dead; no setting changes it. */
  private static final Duration GRACE = Duration.ofMillis(7500);

  /** How often a scheduler looks for triggers that others have stored; by default every 30 s. */
  private static final Duration IDLE_WAIT = Duration.ofSeconds(1);

  private static final String LEDGER = "ledger";

  @Override
  public Promise promise() {
    return Promise.AT_LEAST_ONCE;
  }

  @Override
  public Duration detection() {
    return CHECK_IN.multipliedBy(2).plus(GRACE).plus(IDLE_WAIT);
  }

  @Override
  public void prepare(DataSource database) throws Exception {
    try (InputStream script =
            Job.class.getResourceAsStream("/org/quartz/impl/jdbcjobstore/tables_h2.sql");
        Connection connection = database.getConnection();
        Statement statement = connection.createStatement()) {
      String text = new String(script.readAllBytes(), StandardCharsets.UTF_8);
      for (String part : text.replaceAll("(?m)^(--|#).*$", "").split(";", -1)) {
        String sql = part.strip();
        if (sql.startsWith("CREATE") || sql.startsWith("ALTER")) {
          statement.execute(sql);
        }
      }
    }
  }

  private static Scheduler scheduler(DataSource database, String name) throws SchedulerException {
    DBConnectionManager.getInstance().addConnectionProvider("db", new Pooled(database));
    Properties properties = new Properties();
    properties.putAll(
        Map.of(
            "org.quartz.scheduler.instanceName", "kills",
            "org.quartz.scheduler.instanceId", name,
            "org.quartz.scheduler.idleWaitTime", String.valueOf(IDLE_WAIT.toMillis()),
            "org.quartz.threadPool.threadCount", "3",
            "org.quartz.jobStore.class", "org.quartz.impl.jdbcjobstore.JobStoreTX",
            "org.quartz.jobStore.driverDelegateClass",
                "org.quartz.impl.jdbcjobstore.StdJDBCDelegate",
            "org.quartz.jobStore.isClustered", "true",
            "org.quartz.jobStore.clusterCheckinInterval", String.valueOf(CHECK_IN.toMillis()),
            "org.quartz.jobStore.dataSource", "db"));
    return new StdSchedulerFactory(properties).getScheduler();
  }

  @Override
  public Submitter submitter(DataSource database) throws SchedulerException {
    Scheduler scheduler = scheduler(database, "submitter");
    return new Submitter() {
      @Override
      public void submit(int job) throws SchedulerException {
        JobKey key = JobKey.jobKey(String.valueOf(job));
        if (!scheduler.checkExists(key)) {
          scheduler.scheduleJob(
              JobBuilder.newJob(Working.class).withIdentity(key).requestRecovery().build(),
              TriggerBuilder.newTrigger().withIdentity(key.getName()).startNow().build());
        }
      }

      @Override
      public void close() {
        try {
          scheduler.shutdown();
        } catch (SchedulerException e) {
          throw new IllegalStateException(e);
        }
      }
    };
  }

  @Override
  public void work(DataSource database, String client, Ledger ledger) throws SchedulerException {
    Scheduler scheduler = scheduler(database, client);
    scheduler.getContext().put(LEDGER, ledger);
    scheduler.start();
  }

  @Override
  public String remainder() {
    return "SELECT (SELECT COUNT(*) FROM QRTZ_JOB_DETAILS) + (SELECT COUNT(*) FROM QRTZ_TRIGGERS)"
        + " + (SELECT COUNT(*) FROM QRTZ_FIRED_TRIGGERS)";
  }

  /** Quartz makes the jobs itself. */
  public static final class Working implements Job {
    @Override
    public void execute(JobExecutionContext context) throws JobExecutionException {
      int job = Integer.parseInt(context.getJobDetail().getKey().getName());
      try {
        Ledger ledger = (Ledger) context.getScheduler().getContext().get(LEDGER);
        ledger.begin(job);
        ledger.writeOnce(job);
      } catch (SQLException | SchedulerException e) {
        throw new JobExecutionException(e, /* refireImmediately= */ true);
      }
    }
  }

  /** The pool of the process, which Quartz does not own. */
  private record Pooled(DataSource database) implements ConnectionProvider {
    @Override
    public Connection getConnection() throws SQLException {
      return database.getConnection();
    }

    @Override
    public void shutdown() {}

    @Override
    public void initialize() {}
  }
}
