package dev.tollgate.h2;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Compares what H2 still asks of the Java runtime with a list that says for each place why no
 * replica differs because of it. A new version of H2 makes this fail where it asks for more.
 */
class RuntimeCallsTest {
  private static final Path CLASSES = Path.of("target", "classes", "org", "h2");

  private static final Path REASONS =
      Path.of("src", "test", "resources", "dev", "tollgate", "h2", "runtime-calls.txt");

  /** A place and a call, of which each may end in a star, and a reason. */
  private record Allowed(String place, String call, String line) {
    static Allowed of(String line) {
      String[] words = line.split(" ", 3);
      return new Allowed(words[0], words[1], line);
    }

    boolean fits(String found) {
      String[] words = found.split(" ", 2);
      return fits(place, words[0]) && fits(call, words[1]);
    }

    private static boolean fits(String pattern, String name) {
      return pattern.endsWith("*")
          ? name.startsWith(pattern.substring(0, pattern.length() - 1))
          : name.equals(pattern);
    }
  }

  @Test
  void eachPlaceHasItsReason() throws IOException {
    List<Allowed> allowed = new ArrayList<>();
    for (String line : Files.readAllLines(REASONS)) {
      if (!line.isBlank() && !line.startsWith("#")) {
        allowed.add(Allowed.of(line));
      }
    }
    SortedSet<String> found = RuntimeCalls.in(CLASSES);
    SortedSet<String> without = new TreeSet<>();
    SortedSet<String> stale = new TreeSet<>();
    allowed.forEach(line -> stale.add(line.line()));
    for (String place : found) {
      boolean known = false;
      for (Allowed line : allowed) {
        if (line.fits(place)) {
          known = true;
          stale.remove(line.line());
        }
      }
      if (!known) {
        without.add(place);
      }
    }
    assertEquals("", String.join("\n", without), "places without a reason");
    assertEquals("", String.join("\n", stale), "reasons without a place");
  }
}
