package dev.tollgate.cluster;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.Yaml;

/**
 * A real Prometheus scrapes three nodes with the configuration of docs/operations.md, and evaluates
 * every expression of the dashboard and of the alerts.
 */
@Timeout(180)
class MetricsInPrometheusIT {
  private static final Path DOCS = Path.of("..", "docs");
  private static final Path DASHBOARDS = DOCS.resolve("dashboards");
  private static final Pattern NAME =
      Pattern.compile("\\b(?:tollgate|jvm|process|system)_[a-z0-9_]+\\b");

  /** Come with the first collection, which a node that has just started may not have had. */
  private static final Set<String> MAY_BE_MISSING = Set.of("jvm_gc_pause_seconds_sum");

  @TempDir Path directory;
  private ClusterProcesses cluster;

  @BeforeEach
  void startCluster() throws Exception {
    Prometheus.assumeInstalled();
    Path authority = directory.resolve("authority");
    Program program =
        Program.run(
            "certificates",
            authority.toString(),
            "--node=n1=127.0.0.1",
            "--node=n2=127.0.0.1",
            "--node=n3=127.0.0.1");
    assertEquals(0, program.status(), program.err());
    Files.writeString(directory.resolve("admin.password"), "the administrator's\n");
    Files.writeString(directory.resolve("monitor.password"), "the monitor's\n");
    Path own = authority.resolve(ClusterProcesses.ID);
    cluster =
        new ClusterProcesses(
            "MetricsInPrometheusIT",
            directory,
            3,
            "--tls-certificate=" + own + ".crt",
            "--tls-key=" + own + ".key",
            "--tls-trust=" + authority.resolve("ca.crt"),
            "--admin-password-file=" + directory.resolve("admin.password"),
            "--admin-address=127.0.0.1:" + ClusterProcesses.ADMIN_PORT);
  }

  @AfterEach
  void stopCluster() {
    if (cluster != null) {
      cluster.close();
    }
  }

  private Connection connect() throws SQLException {
    return cluster.connect(
        "failoverTimeout=60s&sslRootCert="
            + directory.resolve("authority").resolve("ca.crt")
            + "&user=admin&passwordFile="
            + directory.resolve("admin.password"));
  }

  /**
   * The configuration that the page shows, for this cluster. The alert for a node that is gone
   * waits a second; the others wait as they do, because a machine that is busy with tests may be
   * slow.
   */
  private Path configuration() throws IOException {
    String page = Files.readString(DOCS.resolve("operations.md"));
    Matcher block = Pattern.compile("(?s)```yaml\n(scrape_configs:.*?)```").matcher(page);
    assertTrue(block.find());
    String targets =
        cluster.adminPorts().stream()
            .map(port -> "\"127.0.0.1:" + port + "\"")
            .collect(Collectors.joining(", "));
    String scrape =
        block
            .group(1)
            .replaceAll("targets: \\[.*]", "targets: [ " + targets + " ]")
            .replace("ca_file: ca.crt", "ca_file: " + directory.resolve("authority/ca.crt"))
            .replace("monitor.password", directory.resolve("monitor.password").toString());
    assertTrue(scrape.contains(targets) && scrape.contains("authority/ca.crt"), scrape);
    Path rules = directory.resolve("alerts.yaml");
    Files.writeString(
        rules,
        Files.readString(DASHBOARDS.resolve("alerts.yaml"))
            .replaceFirst("(?s)(alert: TollgateNodeDown.*?for:) 1m", "$1 1s"));
    return Files.writeString(
        directory.resolve("prometheus.yaml"),
        "global: { scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms }\n"
            + "rule_files: [ "
            + rules
            + " ]\n"
            + scrape);
  }

  private static SortedSet<String> firing(Prometheus prometheus) throws Exception {
    return prometheus.query("ALERTS{alertstate=\"firing\"}").keySet().stream()
        .map(labels -> labels.get("alertname"))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static List<String> panelExpressions() throws IOException {
    List<String> expressions = new ArrayList<>();
    Map<String, Object> dashboard =
        new Yaml().load(Files.readString(DASHBOARDS.resolve("tollgate.json")));
    for (Map<String, Object> panel : Prometheus.maps(dashboard.get("panels"))) {
      if (panel.get("targets") != null) {
        Prometheus.maps(panel.get("targets"))
            .forEach(target -> expressions.add(target.get("expr").toString()));
      }
    }
    return expressions;
  }

  private static List<String> alertExpressions() throws IOException {
    Map<String, Object> file = new Yaml().load(Files.readString(DASHBOARDS.resolve("alerts.yaml")));
    return Prometheus.maps(Prometheus.maps(file.get("groups")).get(0).get("rules")).stream()
        .map(rule -> rule.get("expr").toString())
        .toList();
  }

  /** As Grafana fills in its variables. */
  private static String filledIn(String panel) {
    return panel
        .replace("$job", "orders")
        .replace("$instance", ".*")
        .replace("$__rate_interval", "10s");
  }

  private static void work(Statement statement) throws SQLException {
    statement.execute(
        "CREATE TABLE report(id INT PRIMARY KEY, total INT) FENCED BY LOCK 'nightly'");
    statement.execute("SELECT acquire_lock('nightly')");
    statement.execute("INSERT INTO report VALUES (1, 1)");
  }

  @Test
  void everyExpressionIsEvaluatedAndAlertsFireForFaults() throws Exception {
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      try (PreparedStatement create =
          connection.prepareStatement("CREATE USER monitor PASSWORD ?")) {
        create.setString(1, "the monitor's");
        create.execute();
      }
      work(statement);
      try (Prometheus prometheus = new Prometheus(directory, configuration())) {
        await()
            .atMost(ClusterProcesses.DEADLINE)
            .until(() -> prometheus.query("count_over_time(tollgate_node[1m]) >= 4").size() == 3);
        assertTargetsAreUp(prometheus);
        await()
            .atMost(ClusterProcesses.DEADLINE)
            .until(() -> rulesEvaluated(prometheus) == alertExpressions().size());
        assertEquals(new TreeSet<>(), firing(prometheus), "a healthy cluster");
        refuseAWrite(statement);
        await()
            .atMost(ClusterProcesses.DEADLINE)
            .until(() -> firing(prometheus).contains("TollgateWritesRefused"));
        assertEquals(Set.of("TollgateWritesRefused"), firing(prometheus));
        assertExpressionsAreEvaluated(prometheus);
        stopANode(prometheus);
      }
    }
  }

  private static void refuseAWrite(Statement statement) throws SQLException {
    statement.execute("SELECT release_lock('nightly')");
    assertThrows(SQLException.class, () -> statement.execute("INSERT INTO report VALUES (2, 1)"));
  }

  private static void assertTargetsAreUp(Prometheus prometheus) throws Exception {
    List<Map<String, Object>> targets =
        Prometheus.maps(prometheus.data("/api/v1/targets").get("activeTargets"));
    assertEquals(3, targets.size());
    for (Map<String, Object> target : targets) {
      assertEquals("", target.get("lastError"));
      assertEquals("up", target.get("health"));
    }
  }

  private static long rulesEvaluated(Prometheus prometheus) throws Exception {
    long evaluated = 0;
    for (Map<String, Object> group :
        Prometheus.maps(prometheus.data("/api/v1/rules").get("groups"))) {
      for (Map<String, Object> rule : Prometheus.maps(group.get("rules"))) {
        assertTrue(!"err".equals(rule.get("health")), rule.toString());
        evaluated += "ok".equals(rule.get("health")) ? 1 : 0;
      }
    }
    return evaluated;
  }

  private static void assertExpressionsAreEvaluated(Prometheus prometheus) throws Exception {
    List<String> panels = panelExpressions();
    List<String> alerts = alertExpressions();
    assertTrue(panels.size() > 50 && alerts.size() > 30, panels.size() + ", " + alerts.size());
    Set<String> names = new LinkedHashSet<>();
    for (String alert : alerts) {
      var unused = prometheus.query(alert);
      NAME.matcher(alert).results().forEach(name -> names.add(name.group()));
    }
    for (String panel : panels) {
      NAME.matcher(panel).results().forEach(name -> names.add(name.group()));
    }
    // a rate needs two scrapes
    await()
        .atMost(ClusterProcesses.DEADLINE)
        .untilAsserted(
            () -> assertEquals(List.of(), withoutData(prometheus, panels), "panels without data"));
    SortedSet<String> missing = new TreeSet<>();
    for (String name : names) {
      if (!MAY_BE_MISSING.contains(name) && prometheus.query(name).isEmpty()) {
        missing.add(name);
      }
    }
    assertEquals(new TreeSet<>(), missing, "metrics that no node has");
  }

  private static List<String> withoutData(Prometheus prometheus, List<String> panels)
      throws Exception {
    List<String> empty = new ArrayList<>();
    for (String panel : panels) {
      // there is no snapshot yet
      boolean mayBe =
          MAY_BE_MISSING.stream().anyMatch(panel::contains)
              || panel.contains("tollgate_snapshot_timestamp_seconds");
      if (!mayBe && prometheus.query(filledIn(panel)).isEmpty()) {
        empty.add(panel);
      }
    }
    return empty;
  }

  /** One node that is gone is one alert, for that node. */
  private void stopANode(Prometheus prometheus) throws Exception {
    NodeProcess leader =
        cluster.node(
            prometheus
                .query("tollgate_node and on (instance) tollgate_leader == 1")
                .keySet()
                .iterator()
                .next()
                .get("node"));
    NodeProcess follower =
        cluster.nodes().stream().filter(node -> node != leader).findFirst().orElseThrow();
    int port = cluster.adminPorts().get(cluster.nodes().indexOf(follower));
    follower.kill();
    await()
        .atMost(ClusterProcesses.DEADLINE)
        .pollInterval(200, TimeUnit.MILLISECONDS)
        .until(() -> firing(prometheus).contains("TollgateNodeDown"));
    assertEquals(Set.of("TollgateNodeDown", "TollgateWritesRefused"), firing(prometheus));
    List<String> instances =
        prometheus.query("ALERTS{alertname=\"TollgateNodeDown\"}").keySet().stream()
            .map(labels -> labels.get("instance"))
            .toList();
    assertEquals(List.of("127.0.0.1:" + port), instances);
  }
}
