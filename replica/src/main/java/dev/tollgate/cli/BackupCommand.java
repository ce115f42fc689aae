package dev.tollgate.cli;

import dev.tollgate.snapshot.Backup;
import dev.tollgate.wire.Reply;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Writes the whole state of a node into a file, while the cluster serves. */
@Command(
    name = "backup",
    description = {
      "Writes tables, locks, leases and sessions into a file, while the cluster serves.",
      "The node that answers is the first of the URL that can be reached, whether it leads or not;"
          + " the file holds what it has applied of the log. tollgate restore makes a new cluster of"
          + " it."
    },
    mixinStandardHelpOptions = true)
final class BackupCommand implements Callable<Integer> {
  @Option(
      names = {"-u", "--url"},
      required = true,
      defaultValue = "${env:TOLLGATE_URL}",
      description = "jdbc:tollgate://host:port,.../ [TOLLGATE_URL]")
  private String url;

  @Mixin private final LoginOptions login = new LoginOptions();

  @Option(
      names = "--leader",
      description = "Have the leader answer, so that all that was committed before is in the file.")
  private boolean leader;

  @Option(names = "--overwrite", description = "Replace FILE if it is there.")
  private boolean overwrite;

  @Parameters(paramLabel = "FILE", description = "Appears when it is complete and was checked.")
  private Path file;

  BackupCommand() {}

  @Override
  public Integer call() {
    long start = System.nanoTime();
    try {
      requireNew();
      Path unfinished = file.resolveSibling(file.getFileName() + ".part");
      Reply.SnapshotOpened snapshot =
          SnapshotFetch.write(url, login.properties(url), leader, unfinished);
      Backup backup = Backup.check(unfinished);
      requireNew();
      Files.move(
          unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      System.out.printf(
          "%s: node %s at log index %d, last changed %s, epoch %d, %d bytes, in %d ms%n",
          file,
          snapshot.nodeId(),
          snapshot.index(),
          backup.at(),
          backup.epoch(),
          snapshot.sizeBytes(),
          TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
      return 0;
    } catch (IOException e) {
      return Main.failed("no backup was written", e);
    }
  }

  private void requireNew() throws FileAlreadyExistsException {
    if (!overwrite && Files.exists(file)) {
      throw new FileAlreadyExistsException(
          file.toString(), null, "is there already: --overwrite replaces it");
    }
  }
}
