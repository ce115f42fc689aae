package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.TimeZone;
import java.util.UUID;
import org.h2.util.DateTimeUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

/** Times are what plain H2 makes of them, whatever the time zone of the client's JVM is. */
@Timeout(300)
@ResourceLock(Resources.TIME_ZONE)
class TimeZoneMatrixTest {
  private static final List<String> ZONES =
      List.of("UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu");

  private static final String OTHER = "Australia/Lord_Howe";

  /** More would be of no use to a reader. */
  private static final int SHOWN = 20;

  private final TimeZone before = TimeZone.getDefault();
  private int cases;
  private final List<String> different = new ArrayList<>();

  @TempDir private Path directory;

  @AfterEach
  void restoreDefault() {
    use(before.getID());
  }

  /** Makes this the zone of the JVM, for H2 too, which remembers the first. */
  private static void use(String zone) {
    TimeZone.setDefault(TimeZone.getTimeZone(zone));
    DateTimeUtils.resetCalendar();
  }

  private void compareIn(String zone, String later, String url) throws Exception {
    use(zone);
    try (Connection h2 = DriverManager.getConnection("jdbc:h2:mem:");
        Connection tollgate = DriverManager.getConnection(url)) {
      TimeZone.setDefault(TimeZone.getTimeZone(later));
      List<String> expected = new TimeZoneMatrix(h2, ZoneId.of(zone)).run();
      List<String> actual = new TimeZoneMatrix(tollgate, ZoneId.of(zone)).run();
      assertEquals(expected.size(), actual.size());
      for (int i = 0; i < expected.size(); i++) {
        cases++;
        if (!expected.get(i).equals(actual.get(i))) {
          different.add(zone + ": H2 has " + expected.get(i) + ", Tollgate " + actual.get(i));
        }
      }
    }
  }

  private void compare(String url) throws Exception {
    for (String zone : ZONES) {
      compareIn(zone, zone, url);
    }
    compareIn("Europe/Berlin", OTHER, url);
    System.out.println(cases + " cases at " + url + ", of which differ " + different.size());
    assertTrue(
        different.isEmpty(),
        () -> different.size() + " of " + cases + " cases differ, such as\n" + shown());
    assertTrue(cases > 100_000, cases + " cases are too few");
  }

  private String shown() {
    return String.join("\n", different.subList(0, Math.min(SHOWN, different.size())));
  }

  @Test
  void inMemory() throws Exception {
    compare("jdbc:tollgate:mem:" + UUID.randomUUID());
  }

  @Test
  void embedded() throws Exception {
    compare("jdbc:tollgate:embedded:" + directory);
  }

  @Test
  void inACluster() throws Exception {
    try (LocalCluster cluster = LocalCluster.started(directory, 3)) {
      compare(cluster.url());
    }
  }
}
