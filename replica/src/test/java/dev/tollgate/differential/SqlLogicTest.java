package dev.tollgate.differential;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tollgate gives what plain H2 gives for the scripts of sqllogictest, through the driver on an
 * embedded node that takes a snapshot and is started again meanwhile. The scripts are a gigabyte;
 * each run takes a sample by its seed. They are on the class path in the profile nightly alone.
 */
@Tag("nightly")
class SqlLogicTest {
  private static final long SEED = Long.getLong("tollgate.seed", System.nanoTime() & 0xffffff);
  private static final int SCRIPTS = Integer.getInteger("tollgate.scripts", 20);
  private static final int QUERIES_PER_SCRIPT = Integer.getInteger("tollgate.queries", 400);
  private static final int STATEMENTS_PER_RESTART = Integer.getInteger("tollgate.restart", 300);
  private static final String FIRST = "test/select1.test";

  /** Joins of up to 64 tables, for the order of which plain H2 needs hours. */
  private static final String ENDLESS = "test/select5.test";

  @TempDir private Path directory;

  @Test
  void scriptsGiveWhatTheyGiveInPlainH2AlsoAfterRestarts() throws Exception {
    System.out.println("SqlLogicTest: -Dtollgate.seed=" + SEED);
    LogicRun run = new LogicRun(new Random(SEED), QUERIES_PER_SCRIPT, STATEMENTS_PER_RESTART);
    for (String name : sample()) {
      Path data = directory.resolve(name.replace('/', '-'));
      try (Side h2 = new Side("jdbc:h2:mem:logic;ANALYZE_AUTO=0");
          Side tollgate = new Side("jdbc:tollgate:embedded:" + data)) {
        run.run(name, LogicScript.of(text(name)), tollgate, h2);
      }
    }
    System.out.println("SqlLogicTest: seed " + SEED + ", " + SCRIPTS + " scripts: " + run);
    assertEquals(List.of(), run.differences(), () -> "seed " + SEED);
    assertTrue(run.accepted() > 100 * SCRIPTS, run::toString);
  }

  private static List<String> sample() throws IOException {
    URL first = SqlLogicTest.class.getResource("/" + FIRST);
    assertNotNull(first, "The scripts are on the class path with -Pnightly");
    List<String> names = new ArrayList<>();
    try (JarFile jar = ((JarURLConnection) first.openConnection()).getJarFile()) {
      jar.stream()
          .map(ZipEntry::getName)
          .filter(name -> name.startsWith("test/") && name.endsWith(".test"))
          .filter(name -> !name.equals(ENDLESS))
          .sorted()
          .forEach(names::add);
    }
    Collections.shuffle(names, new Random(SEED));
    return names.subList(0, Math.min(SCRIPTS, names.size()));
  }

  private static String text(String name) throws IOException {
    try (InputStream script = SqlLogicTest.class.getResourceAsStream("/" + name)) {
      return new String(script.readAllBytes(), UTF_8);
    }
  }
}
