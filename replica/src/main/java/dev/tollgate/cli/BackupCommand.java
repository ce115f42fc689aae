package dev.tollgate.cli;

import dev.tollgate.cli.backup.BackupDirectory;
import dev.tollgate.cli.backup.BackupRounds;
import dev.tollgate.cli.backup.BackupSchedule;
import dev.tollgate.log.SyncedFiles;
import dev.tollgate.node.BackupTrial;
import dev.tollgate.snapshot.Backup;
import dev.tollgate.snapshot.Passphrase;
import dev.tollgate.snapshot.SealedOutput;
import dev.tollgate.wire.Reply;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Writes the whole state of a node into a file, while the cluster serves: once, or regularly. */
@Command(
    name = "backup",
    description = {
      "Writes tables, locks, leases and sessions into a file, while the cluster serves.",
      "The node that answers is the first of the URL that can be reached, whether it leads or not;"
          + " the file holds what it has applied of the log. tollgate restore makes a new cluster"
          + " of it, tollgate verify checks it.",
      "With --keep the file is a new one in directory FILE, and older backups that this command has"
          + " written there are deleted. With --every it goes on until SIGTERM ends it."
    },
    exitCodeListHeading = "Exit status:%n",
    exitCodeList = {
      "  0:a backup was written",
      "  1:no backup was written; with --every, the directory cannot be used",
      "  2:the command line is wrong",
      "143:SIGTERM has ended --every"
    },
    mixinStandardHelpOptions = true)
final class BackupCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Mixin private final ClusterOptions cluster = new ClusterOptions();

  @Option(
      names = "--leader",
      description = "Have the leader answer, so that all that was committed before is in the file.")
  private boolean leader;

  @Option(names = "--overwrite", description = "Replace FILE if it is there.")
  private boolean overwrite;

  @Option(
      names = "--keep",
      paramLabel = "NUMBER",
      description =
          "FILE is a directory, which must exist: write a new file into it, and delete the oldest"
              + " of the backups that this command has written there, so that NUMBER are left.")
  private @Nullable Integer keep;

  @Option(
      names = "--every",
      paramLabel = "DURATION",
      converter = DurationText.class,
      description =
          "Needs --keep: write a backup every 30m, 6h or 1d. A backup that fails is tried again,"
              + " after 5 s at first and after 5 min at last.")
  private @Nullable Duration every;

  @Parameters(
      paramLabel = "FILE",
      description =
          "Appears when it is complete and was checked; only you may read it. It holds all data.")
  private Path file;

  @Mixin private final PassphraseOption passphrase = new PassphraseOption();

  BackupCommand() {}

  @Override
  public Integer call() {
    requireSense();
    try {
      Properties properties = cluster.properties();
      Passphrase secret = passphrase.read();
      Integer kept = keep;
      return kept == null ? writeFile(properties, secret) : writeInto(kept, properties, secret);
    } catch (IOException e) {
      return Main.failed("no backup was written", e);
    }
  }

  private int writeFile(Properties properties, @Nullable Passphrase secret) throws IOException {
    requireNew();
    Path unfinished = file.resolveSibling(file.getFileName() + ".part");
    String what = write(unfinished, properties, secret);
    requireNew();
    SyncedFiles.move(unfinished, file);
    System.out.println(file + ": " + what);
    return 0;
  }

  private int writeInto(int kept, Properties properties, @Nullable Passphrase secret)
      throws IOException {
    PrintStream err = System.err;
    try (BackupDirectory directory = BackupDirectory.open(file, kept, err)) {
      Runtime.getRuntime()
          .addShutdownHook(new Thread(directory::giveUp, "tollgate-backup-gives-up"));
      Clock clock = Clock.systemUTC();
      if (every == null) {
        System.out.println(directory.add(part -> write(part, properties, secret), clock.instant()));
        return 0;
      }
      new BackupRounds(
              directory,
              part -> write(part, properties, secret),
              new BackupSchedule(every),
              clock,
              time -> TimeUnit.MILLISECONDS.sleep(time.toMillis() + 1),
              System.out,
              err)
          .run();
      return 0;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Main.FAILED;
    }
  }

  private String write(Path unfinished, Properties properties, @Nullable Passphrase secret)
      throws IOException {
    long start = System.nanoTime();
    Reply.SnapshotOpened snapshot =
        SnapshotFetch.write(
            cluster.url(),
            properties,
            leader,
            unfinished,
            secret == null ? null : (out, opened) -> new SealedOutput(out, secret));
    Backup backup = Backup.check(unfinished, secret);
    long rows = BackupTrial.read(backup);
    return String.format(
        "node %s at log index %d, last changed %s, epoch %d, %d bytes, %d rows%s, in %d ms",
        snapshot.nodeId(),
        snapshot.index(),
        backup.at(),
        backup.epoch(),
        Files.size(unfinished),
        rows,
        secret == null ? "" : ", encrypted",
        TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
  }

  private void requireNew() throws FileAlreadyExistsException {
    if (!overwrite && Files.exists(file)) {
      throw new FileAlreadyExistsException(
          file.toString(), null, "is there already: --overwrite replaces it");
    }
  }

  private void requireSense() {
    Integer kept = keep;
    Duration between = every;
    require(
        kept == null || (kept >= 1 && kept <= BackupDirectory.MOST_KEPT),
        "--keep is " + kept + ": it has to be from 1 to " + BackupDirectory.MOST_KEPT);
    require(between == null || kept != null, "--every needs --keep");
    require(kept == null || !overwrite, "--keep and --overwrite exclude each other");
    require(
        between == null
            || (between.compareTo(BackupSchedule.SHORTEST) >= 0
                && between.compareTo(BackupSchedule.LONGEST) <= 0),
        "--every has to be from 1s to " + BackupSchedule.LONGEST.toDays() + "d");
  }

  private void require(boolean condition, String otherwise) {
    if (!condition) {
      throw new ParameterException(spec.commandLine(), otherwise);
    }
  }
}
