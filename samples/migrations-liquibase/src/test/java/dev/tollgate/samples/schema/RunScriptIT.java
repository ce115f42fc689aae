package dev.tollgate.samples.schema;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command of samples/README.md. */
class RunScriptIT {
  @TempDir private Path directory;

  @Test
  @Tag("nightly")
  void instancesMakeEachChangeOnce() throws Exception {
    Path out = directory.resolve("out");
    Process run =
        new ProcessBuilder("./run.sh")
            .redirectErrorStream(true)
            .redirectOutput(out.toFile())
            .start();
    assertTrue(run.waitFor(5, TimeUnit.MINUTES), "it does not end");
    String said = Files.readString(out);
    assertEquals(0, run.exitValue(), said);
    assertTrue(said.contains("3 change sets, 2 customers, 1 line of 1 paid order"), said);
  }
}
