package dev.tollgate.samples.applications;

import static org.awaitility.Awaitility.await;
import static org.jobrunr.server.BackgroundJobServerConfiguration.usingStandardBackgroundJobServerConfiguration;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.zaxxer.hikari.HikariDataSource;
import dev.tollgate.samples.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jobrunr.configuration.JobRunr;
import org.jobrunr.jobs.states.StateName;
import org.jobrunr.scheduling.JobScheduler;
import org.jobrunr.storage.StorageProvider;
import org.jobrunr.storage.sql.h2.H2StorageProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Jobs of JobRunr, in its tables and with its SQL for H2. */
public class JobRunrTest {
  private static final int JOBS = 10;

  /** How often each job ran. JobRunr calls a method of a class. */
  private static final Map<Integer, Integer> RUNS = new ConcurrentHashMap<>();

  @RegisterExtension final TestDatabase node = new TestDatabase();

  /** What a job does. */
  public static void count(int job) {
    RUNS.merge(job, 1, Integer::sum);
  }

  @Test
  @Tag("cluster")
  void everyJobRunsOnce() throws Exception {
    try (HikariDataSource pool = Pool.of(node.url())) {
      StorageProvider jobs = new H2StorageProvider(pool);
      JobScheduler scheduler =
          JobRunr.configure()
              .useStorageProvider(jobs)
              .useBackgroundJobServer(
                  usingStandardBackgroundJobServerConfiguration()
                      .andWorkerCount(3)
                      // the shortest that it takes
                      .andPollInterval(Duration.ofSeconds(5)))
              .initialize()
              .getJobScheduler();
      try {
        for (int i = 0; i < JOBS; i++) {
          int job = i;
          if (i % 2 == 0) {
            scheduler.enqueue(() -> count(job));
          } else {
            scheduler.schedule(Instant.now().plusMillis(500), () -> count(job));
          }
          if (i == JOBS / 2) {
            node.loseLeader();
          }
        }
        await()
            .atMost(Duration.ofSeconds(40))
            .until(() -> jobs.countJobs(StateName.SUCCEEDED) == JOBS);
        assertEquals(JOBS, RUNS.size());
        RUNS.forEach((job, times) -> assertEquals(1, times, "job " + job));
      } finally {
        JobRunr.destroy();
      }
    }
  }
}
