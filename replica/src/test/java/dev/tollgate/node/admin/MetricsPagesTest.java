package dev.tollgate.node.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.LockTallies;
import dev.tollgate.core.Tally;
import dev.tollgate.core.command.AuditEvent;
import dev.tollgate.log.KeyUse;
import dev.tollgate.log.LogClock;
import dev.tollgate.log.LogFigures;
import dev.tollgate.log.LogStatus;
import dev.tollgate.log.PipelineFigures;
import dev.tollgate.node.Scrape;
import dev.tollgate.node.client.ArrivalFigures;
import dev.tollgate.node.client.AuthenticationListener;
import dev.tollgate.node.client.ClientFigures;
import dev.tollgate.node.client.LoginCounts;
import dev.tollgate.node.client.Workers;
import dev.tollgate.node.replica.Duties;
import dev.tollgate.node.replica.ReplicaFigures;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * docs/operations.md has each metric of a scrape and no other ones, and so have the dashboards and
 * the alerts.
 */
class MetricsPagesTest {
  private static final Path DOCS = Path.of("..", "docs");

  private static final Pattern ROW = Pattern.compile("(?m)^\\| `([a-z0-9_]+)(?:\\{[a-z,]+})?` \\|");
  private static final Pattern NAME =
      Pattern.compile("\\b(?:tollgate|jvm|process|system)_[a-z0-9_]+\\b");

  /** Come with the first collection of their kind. */
  private static final Set<String> AFTER_COLLECTIONS =
      Set.of("jvm_gc_pause_seconds", "jvm_gc_concurrent_phase_time_seconds");

  private final MetricsPage page = new MetricsPage(MetricsPagesTest::figures);

  @AfterEach
  void close() {
    page.close();
  }

  /** Figures in which nothing is missing. */
  private static Figures figures() {
    Tally tally = new Tally(1_000, 2_000);
    tally.add(500);
    tally.add(5_000);
    Tally.Count count = tally.count();
    return new Figures(
        new NodeFigures(
            "n1",
            "0.1",
            true,
            false,
            2_500,
            1_500,
            true,
            3,
            4,
            7,
            5,
            6,
            Instant.ofEpochSecond(1_900_000_000),
            100,
            new LoginCounts(AuthenticationListener.NOBODY)),
        new LogStatus(
            "n1",
            LogStatus.Role.LEADER,
            "n1",
            7,
            40,
            42,
            List.of(
                new LogStatus.Member("n1", "a:1", 42, 0L),
                new LogStatus.Member("n2", "b:1", 30, 15L, true))),
        new ReplicaFigures(
            9_000_000, 1, 2, 3, 4, 5, 6, 7, 2_000_000, 8, count, count, 5_000, locks(count)),
        Duration.ofMillis(10),
        new PipelineFigures(1, 2, 3, 4, 5, count),
        new LogClock.Look(true, 0, new TreeMap<>(Map.of("n1", 0L, "n2", -1_500_000L)), 2_500_000),
        new LogFigures(
            1,
            2,
            3,
            4,
            5,
            6,
            7,
            8,
            9,
            10,
            11,
            12,
            13,
            14,
            15,
            List.of(new KeyUse("k0", false, -1, 2, true), new KeyUse("k1", true, 40, 0, false))),
        new ClientFigures(1, 2, 3, 4, 5, 6, 7, Map.of(Workers.Kind.QUERIES, 8)),
        new ArrivalFigures(1, 2, 3, 4));
  }

  private static LockTallies.Counts locks(Tally.Count count) {
    return new LockTallies.Counts(
        Map.of(AuditEvent.GrantWay.AT_ONCE, 1L),
        Map.of(AuditEvent.LossReason.LEASE_EXPIRED, 1L),
        1,
        count,
        2,
        count,
        3,
        4,
        List.of(new LockTallies.TableCount("PUBLIC.T", 5)));
  }

  private Scrape scrape() {
    return scrape(page, new Caller(true, null, Duties.NONE));
  }

  private static Scrape scrape(MetricsPage page, Caller caller) {
    AdminRequest request =
        new AdminRequest(
            "GET",
            "/metrics",
            "",
            "",
            new byte[0],
            caller,
            InetAddress.getLoopbackAddress(),
            name -> null,
            new Presence());
    Answer answer = page.routes().get(0).page().answer(request);
    return Scrape.parse(new String(answer.bytes(), StandardCharsets.UTF_8));
  }

  private static String section() throws IOException {
    String text = Files.readString(DOCS.resolve("operations.md"));
    int begin = text.indexOf("\n## Metrics and health");
    assertTrue(begin > 0);
    return text.substring(begin, text.indexOf("\n## ", begin + 1));
  }

  @Test
  void tableHasEachMetricAndNoOther() throws IOException {
    SortedSet<String> scraped = new TreeSet<>(scrape().types().keySet());
    scraped.addAll(AFTER_COLLECTIONS);
    SortedSet<String> documented = new TreeSet<>();
    ROW.matcher(section())
        .results()
        .forEach(row -> assertTrue(documented.add(row.group(1)), row.group(1)));
    assertEquals(String.join("\n", scraped), String.join("\n", documented));
  }

  @Test
  void alertsNameMetricsThatExist() throws IOException {
    assertKnown("docs/operations.md", section(), 75);
  }

  @Test
  void dashboardsNameMetricsThatExist() throws IOException {
    List<Path> dashboards;
    try (Stream<Path> files = Files.list(DOCS.resolve("dashboards"))) {
      dashboards = files.filter(file -> file.toString().matches(".*\\.(json|yaml)")).toList();
    }
    assertEquals(2, dashboards.size());
    for (Path dashboard : dashboards) {
      assertKnown(dashboard.toString(), Files.readString(dashboard), 40);
    }
  }

  private void assertKnown(String where, String text, int atLeast) {
    SortedSet<String> known = samples();
    SortedSet<String> unknown = new TreeSet<>();
    int checked = 0;
    for (String name : NAME.matcher(text).results().map(found -> found.group()).toList()) {
      checked++;
      if (!known.contains(name)) {
        unknown.add(name);
      }
    }
    assertEquals(new TreeSet<>(), unknown, where);
    assertTrue(checked >= atLeast, where + " names only " + checked);
  }

  /** The names of families, and of the samples that a query can name. */
  private SortedSet<String> samples() {
    SortedSet<String> names = new TreeSet<>(AFTER_COLLECTIONS);
    AFTER_COLLECTIONS.forEach(name -> names.addAll(List.of(name + "_sum", name + "_count")));
    Scrape scrape = scrape();
    names.addAll(scrape.types().keySet());
    scrape.samples().keySet().forEach(sample -> names.add(sample.replaceAll("\\{.*", "")));
    return names;
  }

  @Test
  void valuesHaveTheirUnits() {
    Scrape scrape = scrape();
    assertEquals(1, scrape.value("tollgate_data_key_in_use{files=\"log\",key=\"k1\"}"));
    assertEquals(0, scrape.value("tollgate_data_key_in_use{files=\"log\",key=\"k0\"}"));
    assertEquals(1, scrape.value("tollgate_data_key_in_use{files=\"identity\",key=\"k0\"}"));
    assertEquals(12, scrape.value("tollgate_member_lag_entries{member=\"n2\"}"));
    assertEquals(1, scrape.value("tollgate_member_lost_entries{member=\"n2\"}"));
    assertEquals(0, scrape.value("tollgate_member_lost_entries{member=\"n1\"}"));
    assertEquals(0.015, scrape.value("tollgate_member_silence_seconds{member=\"n2\"}"));
    assertEquals(1, scrape.value("tollgate_commit_seconds_bucket{le=\"0.001\"}"));
    assertEquals(0.0055, scrape.value("tollgate_commit_seconds_sum"));
    assertEquals(7, scrape.value("tollgate_transaction_oldest_seconds"));
    assertEquals(1.9e9, scrape.value("tollgate_certificate_expiry_timestamp_seconds"));
    assertEquals(-1.5, scrape.value("tollgate_clock_ahead_seconds{member=\"n2\"}"));
    assertEquals(1, scrape.value("tollgate_clocks_agree"));
    assertEquals(2.5, scrape.value("tollgate_log_time_ahead_seconds"));
    assertEquals(5, scrape.value("tollgate_stuck_holds_total"));
    assertEquals(6, scrape.value("tollgate_stuck_waits_total"));
    assertEquals(8, scrape.value("tollgate_work_queued{kind=\"queries\"}"));
    assertEquals(5, scrape.value("tollgate_table_writes_refused_total{table=\"PUBLIC.T\"}"));
  }

  @Test
  void nodeWithoutFiguresYetStillTellsOfItsJvm() {
    try (MetricsPage early = new MetricsPage(() -> null)) {
      Scrape scrape = scrape(early, Caller.STRANGER);
      assertTrue(scrape.types().keySet().stream().noneMatch(name -> name.startsWith("tollgate")));
      assertTrue(scrape.value("jvm_threads_live_threads") > 0);
    }
  }
}
