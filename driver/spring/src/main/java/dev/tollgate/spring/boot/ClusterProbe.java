package dev.tollgate.spring.boot;

import static java.util.Objects.requireNonNull;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Asks the cluster who leads it. The questions have a thread of their own: a caller waits for the
 * timeout at most, whatever the cluster or the pool does. Thread-safe.
 */
final class ClusterProbe implements AutoCloseable {
  private static final String ADVICE =
      "Check that the nodes run and that this host reaches them; 'tollgate status' asks each node.";

  /** Callers at the same time, besides the one whose question is under way. */
  private static final int MAX_WAITING = 16;

  /** What the leader knows: the answer is as fresh as the question. */
  private static final String LEADER =
      "SELECT NODE_ID, CLIENT_ADDRESS FROM TOLLGATE.NODES WHERE NODE_ROLE = 'LEADER'";

  /** The health of the cluster, and what to show of it. */
  record Finding(boolean isUp, Map<String, Object> details) {}

  private final Cluster cluster;
  private final Duration timeout;
  private final ThreadPoolExecutor thread =
      new ThreadPoolExecutor(
          1,
          1,
          30,
          TimeUnit.SECONDS,
          new ArrayBlockingQueue<>(MAX_WAITING),
          ClusterProbe::newThread);
  private volatile String url = "";

  ClusterProbe(Cluster cluster, Duration timeout) {
    thread.allowCoreThreadTimeOut(true);
    this.cluster = requireNonNull(cluster, "cluster");
    this.timeout = requireNonNull(timeout, "timeout");
    if (cluster instanceof Cluster.OfUrl known) {
      url = withoutProperties(known.url());
    }
  }

  private static Thread newThread(Runnable task) {
    Thread thread = new Thread(task, "tollgate-health");
    thread.setDaemon(true);
    return thread;
  }

  /** A URL may carry a password among its properties. */
  private static String withoutProperties(String url) {
    int end = url.indexOf('?');
    return end < 0 ? url : url.substring(0, end);
  }

  Finding ask() {
    FutureTask<Map<String, Object>> answer = new FutureTask<>(this::askTheCluster);
    try {
      thread.execute(answer);
    } catch (RejectedExecutionException e) {
      return down(MAX_WAITING + " questions before this one have no answer yet. " + ADVICE);
    }
    try {
      return new Finding(true, answer.get(timeout.toNanos(), TimeUnit.NANOSECONDS));
    } catch (TimeoutException e) {
      thread.remove(answer);
      return down(
          "No answer within "
              + timeout.toMillis()
              + " ms (tollgate.health.timeout), from the cluster or from the pool. "
              + ADVICE);
    } catch (ExecutionException e) {
      return down(requireNonNull(e.getCause(), "cause").getMessage() + ". " + ADVICE);
    } catch (InterruptedException e) {
      thread.remove(answer);
      Thread.currentThread().interrupt();
      return down("The question was interrupted.");
    }
  }

  private Finding down(String error) {
    Map<String, Object> details = new LinkedHashMap<>();
    if (!url.isEmpty()) {
      details.put("url", url);
    }
    details.put("error", error);
    return new Finding(false, details);
  }

  private Map<String, Object> askTheCluster() throws SQLException {
    try (Connection connection = cluster.open();
        Statement statement = connection.createStatement()) {
      url = withoutProperties(connection.getMetaData().getURL());
      Map<String, Object> details = new LinkedHashMap<>();
      details.put("url", url);
      try (ResultSet leader = statement.executeQuery(LEADER)) {
        if (leader.next()) {
          details.put("leader", leader.getString(1));
          String address = leader.getString(2);
          if (address != null) {
            details.put("leaderAddress", address);
          }
        }
      }
      return details;
    }
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }
}
