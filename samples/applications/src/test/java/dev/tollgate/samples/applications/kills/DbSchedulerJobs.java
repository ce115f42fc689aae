package dev.tollgate.samples.applications.kills;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.SchedulerClient;
import com.github.kagkarlsson.scheduler.task.FailureHandler;
import com.github.kagkarlsson.scheduler.task.TaskDescriptor;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import javax.sql.DataSource;

/** Schedulers of db-scheduler. The task of a scheduler without heartbeats is another's. */
final class DbSchedulerJobs implements Framework {
  private static final Duration HEARTBEAT = Duration.ofSeconds(1);
  private static final int MISSED_HEARTBEATS = 4;

  /** The table as the manual of db-scheduler has it for HSQLDB and H2. */
  private static final String TABLE =
      "CREATE TABLE scheduled_tasks (task_name VARCHAR(100), task_instance VARCHAR(100), task_data"
          + " BLOB, execution_time TIMESTAMP(6) WITH TIME ZONE, picked BIT, picked_by VARCHAR(50),"
          + " last_success TIMESTAMP(6) WITH TIME ZONE, last_failure TIMESTAMP(6) WITH TIME ZONE,"
          + " consecutive_failures INT, last_heartbeat TIMESTAMP(6) WITH TIME ZONE, version BIGINT,"
          + " priority INT, state VARCHAR(50), PRIMARY KEY (task_name, task_instance))";

  private static final TaskDescriptor<Void> WORKING = TaskDescriptor.of("working");

  @Override
  public Promise promise() {
    return Promise.AT_LEAST_ONCE;
  }

  /** Schedulers look for dead ones every second heartbeat. */
  @Override
  public Duration detection() {
    return HEARTBEAT.multipliedBy(MISSED_HEARTBEATS + 2);
  }

  @Override
  public void prepare(DataSource database) throws SQLException {
    try (Connection connection = database.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(TABLE);
    }
  }

  @Override
  public Submitter submitter(DataSource database) {
    SchedulerClient client = SchedulerClient.Builder.create(database).build();
    return job ->
        client.scheduleIfNotExists(
            WORKING.instance(String.valueOf(job)).scheduledTo(Instant.now()));
  }

  @Override
  public void work(DataSource database, String client, Ledger ledger) {
    OneTimeTask<Void> working =
        Tasks.oneTime(WORKING)
            .onFailure(new FailureHandler.OnFailureRetryLater<>(Duration.ofMillis(100)))
            .execute(
                (instance, context) -> {
                  int job = Integer.parseInt(instance.getId());
                  try {
                    ledger.begin(job);
                    ledger.writeOnce(job);
                  } catch (SQLException e) {
                    throw new IllegalStateException(e);
                  }
                });
    Scheduler.create(database, working)
        .schedulerName(() -> client)
        .pollingInterval(Duration.ofMillis(100))
        .heartbeatInterval(HEARTBEAT)
        .missedHeartbeatsLimit(MISSED_HEARTBEATS)
        .threads(3)
        .build()
        .start();
  }

  @Override
  public String remainder() {
    return "SELECT COUNT(*) FROM scheduled_tasks";
  }
}
