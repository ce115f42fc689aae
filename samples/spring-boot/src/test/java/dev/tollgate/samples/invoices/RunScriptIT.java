package dev.tollgate.samples.invoices;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command of samples/README.md. */
class RunScriptIT {
  @TempDir private Path directory;

  @Test
  @Tag("nightly")
  void threeInstancesSendTwelveInvoices() throws Exception {
    Path out = directory.resolve("out");
    ProcessBuilder script =
        new ProcessBuilder("./run.sh").redirectErrorStream(true).redirectOutput(out.toFile());
    script.environment().remove("TOLLGATE_URL");
    Process run = script.start();
    assertTrue(run.waitFor(5, TimeUnit.MINUTES), "it does not end");
    String said = Files.readString(out);
    assertEquals(0, run.exitValue(), said);
    assertEquals(
        InvoiceJob.INVOICES,
        Pattern.compile("instance [abc] sent invoice \\d+ under token \\d+")
            .matcher(said)
            .results()
            .count(),
        said);
  }
}
