package dev.tollgate.micrometer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.lock.LockClient;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What docs/adapters.md says about metrics. */
class AdaptersPageTest {
  private static final Path PAGE = Path.of("..", "..", "docs", "adapters.md");

  @Test
  void exampleOfThePageIsOneThatRuns() throws Exception {
    String example =
        Files.readString(Path.of("src/test/java/dev/tollgate/micrometer/BillingMetrics.java"))
            .replaceFirst("package .*;\n\n", "");
    String page = Files.readString(PAGE);
    assertTrue(
        page.replace("import dev.tollgate.micrometer.TollgateLockMetrics;\n", "").contains(example),
        "the page has another BillingMetrics than the tests");
    PrintStream out = System.out;
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
    try {
      BillingMetrics.main(new String[0]);
    } finally {
      System.setOut(out);
    }
    assertEquals("1.0", said.toString(StandardCharsets.UTF_8).strip());
  }

  @Test
  void pageNamesTheMetersThatThereAre() throws Exception {
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    try (LockClient client = LockClient.connect("jdbc:tollgate:mem:meters")) {
      new TollgateLockMetrics(client).bindTo(registry);
    }
    SortedSet<String> meters = new TreeSet<>();
    registry.getMeters().forEach(meter -> meters.add(meter.getId().getName()));
    SortedSet<String> named = new TreeSet<>();
    Pattern.compile("(?m)^\\| `(tollgate\\.client\\.[a-z.]+)`")
        .matcher(Files.readString(PAGE))
        .results()
        .forEach(found -> named.add(found.group(1)));
    assertEquals(meters, named);
  }
}
