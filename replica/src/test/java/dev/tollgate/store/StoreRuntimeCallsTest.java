package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tollgate.h2.RuntimeCalls;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Compares what the store asks of the Java runtime with a list that says for each place why no
 * replica differs because of it. {@code CoreArchitectureTest} leaves the core nothing to ask.
 */
class StoreRuntimeCallsTest {
  @Test
  void eachPlaceHasItsReason() throws IOException, URISyntaxException {
    Path store =
        Path.of(SqlDatabase.class.getProtectionDomain().getCodeSource().getLocation().toURI())
            .resolve(Path.of("dev", "tollgate", "store"));
    assertEquals(
        new TreeSet<String>(),
        RuntimeCalls.differences(
            List.of(store), Path.of("src", "test", "resources", "runtime-calls.txt")));
  }
}
