package dev.tollgate.cli.doctor;

import static java.util.Objects.requireNonNull;

import dev.tollgate.jdbc.TollgateDriver;
import dev.tollgate.transport.NodeSurvey;
import dev.tollgate.wire.Reply;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * The nodes of a running cluster, and how far the clock of each is from the clock here. Leases do
 * not depend on clocks, which is why no difference is a failure.
 */
final class ClusterCheck implements Check {
  private static final double WARN_MILLIS = 1_000;
  private static final int ATTEMPTS = 3;

  private final @Nullable String url;
  private final Properties login;

  ClusterCheck(@Nullable String url, Properties login) {
    this.url = url;
    this.login = requireNonNull(login, "login");
  }

  @Override
  public String subject() {
    return "cluster";
  }

  @Override
  public List<Finding> run() throws SQLException {
    String cluster = url;
    if (cluster == null) {
      return List.of(Finding.pass(subject(), "not asked: --url or --join names a running cluster"));
    }
    List<Finding> findings = new ArrayList<>();
    for (NodeSurvey.Answer answer : TollgateDriver.surveyNodes(cluster, login)) {
      Reply.NodeStatus status = answer.status();
      if (status == null) {
        findings.add(
            Finding.warn(
                subject(),
                answer.address() + ": " + answer.trouble(),
                "start that node, or mend the login, the certificates or the network"));
      } else {
        findings.add(clock(status.nodeId(), at(cluster, answer.address())));
      }
    }
    return findings.isEmpty()
        ? List.of(Finding.warn(subject(), "no node is known", "name one in --url"))
        : findings;
  }

  /** The URL of one node, with the other properties of the cluster's. */
  private static String at(String cluster, String address) {
    int question = cluster.indexOf('?');
    String properties = question < 0 ? "?" : cluster.substring(question) + "&";
    return "jdbc:tollgate://" + address + "/" + properties + "readConsistency=any";
  }

  private Finding clock(String nodeId, String node) {
    try (Connection connection = DriverManager.getConnection(node, login);
        Statement statement = connection.createStatement()) {
      Offset best = null;
      for (int i = 0; i < ATTEMPTS; i++) {
        Offset offset = measure(statement);
        if (offset != null
            && offset.nodeId().equals(nodeId)
            && (best == null || offset.withinMillis() < best.withinMillis())) {
          best = offset;
        }
      }
      return best == null
          ? Finding.warn(
              subject(), nodeId + " answers, but not for its clock", "ask that node's own address")
          : judge(best);
    } catch (SQLException e) {
      return Finding.warn(
          subject(),
          nodeId + " answers, and its clock could not be read: " + e.getMessage(),
          "give --user and --password-file if the cluster has users");
    }
  }

  /**
   * The clock of a node.
   *
   * @param aheadMillis by how much it is ahead of the clock here
   * @param withinMillis how wrong that may be: half of the time that the question took
   */
  record Offset(String nodeId, double aheadMillis, double withinMillis) {}

  private static @Nullable Offset measure(Statement statement) throws SQLException {
    Instant before = Instant.now();
    long nanos = System.nanoTime();
    try (ResultSet row =
        statement.executeQuery(
            "SELECT NODE_ID, CURRENT_TIMESTAMP(6) FROM TOLLGATE.NODES WHERE ASKED")) {
      if (!row.next()) {
        return null;
      }
      double half = (System.nanoTime() - nanos) / 2e6;
      Instant there = row.getObject(2, OffsetDateTime.class).toInstant();
      double ahead = ChronoUnit.MICROS.between(before, there) / 1e3 - half;
      return new Offset(row.getString(1), ahead, half);
    }
  }

  Finding judge(Offset offset) {
    String fact =
        String.format(
            Locale.ROOT,
            "%s answers, its clock is %.1f ms %s of the one here, within %.1f ms",
            offset.nodeId(),
            Math.abs(offset.aheadMillis()),
            offset.aheadMillis() < 0 ? "behind" : "ahead",
            offset.withinMillis());
    return Math.abs(offset.aheadMillis()) - offset.withinMillis() > WARN_MILLIS
        ? Finding.warn(
            subject(),
            fact,
            "correct the clocks with chrony or systemd-timesyncd: leases do not need that, but log"
                + " files and columns such as HELD_SINCE do")
        : Finding.pass(subject(), fact);
  }
}
