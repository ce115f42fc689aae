package dev.tollgate.samples.jobs;

import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockOptions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.OptionalLong;

/**
 * Takes jobs from a queue until it is empty. A worker works only with a permit of the lock
 * 'jobs.workers', however many workers there are.
 *
 * <p>A job belongs to the permit under whose token it was taken. When that permit is gone, because
 * its worker has died or was too slow, the job is free again. So a job may be begun twice, but its
 * result is written once: in the transaction that removes the job, and only under a permit that is
 * still held.
 */
public final class JobWorker {
  private static final Duration TTL = Duration.ofSeconds(3);
  private static final long WORK_MILLIS = 200;

  private final String name;
  private final Connection connection;
  private final HeldLock permit;

  private JobWorker(String name, Connection connection, HeldLock permit) {
    this.name = name;
    this.connection = connection;
    this.permit = permit;
  }

  /**
   * @param arguments name of the worker, JDBC URL
   */
  public static void main(String[] arguments) throws SQLException, InterruptedException {
    LockOptions options = LockOptions.DEFAULT.ttl(TTL).owner(arguments[0]);
    try (LockClient locks = LockClient.connect(arguments[1]);
        Connection connection = DriverManager.getConnection(arguments[1]);
        HeldLock permit = locks.acquire("jobs.workers", options)) {
      new JobWorker(arguments[0], connection, permit).work();
    }
  }

  private void work() throws SQLException, InterruptedException {
    say("has a permit, token " + permit.token());
    while (count("SELECT COUNT(*) FROM jobs.job") > 0) {
      OptionalLong job = take();
      if (job.isPresent()) {
        say("takes job " + job.getAsLong());
        Thread.sleep(WORK_MILLIS); // the work itself
        say("writes the result of job " + job.getAsLong());
        finish(job.getAsLong());
        say("has done job " + job.getAsLong());
      } else {
        Thread.sleep(WORK_MILLIS); // another worker has the last jobs, and may still die
      }
    }
  }

  /** One statement takes the job, so no other worker can take the same one. */
  private OptionalLong take() throws SQLException {
    try (PreparedStatement take =
        connection.prepareStatement(
            "UPDATE jobs.job SET token = ?, begun = CURRENT_TIMESTAMP WHERE id ="
                + " (SELECT MIN(id) FROM jobs.job WHERE token IS NULL"
                + " OR NOT holds_lock('jobs.workers', token))"
                + " FENCED BY LOCK 'jobs.workers' TOKEN ?")) {
      take.setLong(1, permit.token());
      take.setLong(2, permit.token());
      if (take.executeUpdate() == 0) {
        return OptionalLong.empty();
      }
    }
    return OptionalLong.of(count("SELECT id FROM jobs.job WHERE token = " + permit.token()));
  }

  /** Refused with 23T01 if the permit was lost; then another worker does the job. */
  private void finish(long job) throws SQLException {
    permit.run(
        transaction -> {
          execute(
              transaction,
              "INSERT INTO jobs.result(job_id, done_by, token, begun)"
                  + " SELECT id, ?, token, begun FROM jobs.job WHERE id = ?",
              name,
              job);
          return execute(transaction, "DELETE FROM jobs.job WHERE id = ?", job);
        });
  }

  private static int execute(Connection connection, String sql, Object... arguments)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < arguments.length; i++) {
        statement.setObject(i + 1, arguments[i]);
      }
      return statement.executeUpdate();
    }
  }

  private long count(String query) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(query);
        ResultSet row = statement.executeQuery()) {
      row.next();
      return row.getLong(1);
    }
  }

  private void say(String what) {
    System.out.println(name + " " + what);
  }
}
