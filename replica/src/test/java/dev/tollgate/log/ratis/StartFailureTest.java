package dev.tollgate.log.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.RecordingConsumer;
import java.io.IOException;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A node that does not start says why in words that its operator can act on. */
class StartFailureTest {
  @TempDir private Path directory;

  private String explained(Exception failure) throws IOException {
    return StartFailure.explain(RaftSettings.alone("n1", directory), failure).getMessage();
  }

  @Test
  void directoryThatIsInUseIsNamed() throws Exception {
    RaftSettings settings = RaftSettings.alone("n1", directory);
    try (RatisLog first = new RatisLog(settings, new RecordingConsumer())) {
      first.start();
      try (RatisLog second = new RatisLog(settings, new RecordingConsumer())) {
        IOException refused = assertThrows(IOException.class, second::start);
        assertEquals(
            "node n1 does not start, because another process uses "
                + directory
                + ". Stop that process, or give this node a directory of its own",
            refused.getMessage());
      }
    }
  }

  /** This file exists, and reading it fails for every user. */
  @Test
  void unreadableFileIsNotCalledDamaged() throws Exception {
    Path unreadable = Path.of("/proc/self/mem");
    assumeTrue(Files.exists(unreadable), "no such file on this system");
    Path log = Files.createDirectories(RatisLog.groupDirectory(directory).resolve("current"));
    Path segment = Files.createSymbolicLink(log.resolve("log_0-5"), unreadable);
    String why = explained(new IOException("something else"));
    assertTrue(why.contains("because it cannot read " + segment + " ("), why);
    assertTrue(why.contains("Nothing says that the data is damaged"), why);
  }

  @Test
  void exceptionWithoutWordsIsNamed() throws Exception {
    assertEquals(
        "node n1 does not start: java.lang.IllegalStateException",
        explained(new IOException("outer", new IllegalStateException())));
    assertEquals(
        "node n1 does not start: java.nio.file.NoSuchFileException: /gone",
        explained(new NoSuchFileException("/gone")));
    assertTrue(
        explained(new IOException("locked", new OverlappingFileLockException()))
            .contains("another process uses " + directory));
  }
}
