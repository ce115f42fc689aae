package dev.tollgate.cli;

import dev.tollgate.log.SyncedFiles;
import dev.tollgate.node.SqlDump;
import dev.tollgate.snapshot.Backup;
import java.io.BufferedWriter;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Writes the users' tables as SQL. */
@Command(
    name = "dump",
    description = {
      "Writes the tables of users as SQL, as they were at one moment, while the cluster serves.",
      "tollgate sql takes what it writes. Locks, leases and sessions are in a backup only."
    },
    mixinStandardHelpOptions = true)
final class DumpCommand implements Callable<Integer> {
  @Mixin private final ClusterOptions cluster = new ClusterOptions();

  @Option(
      names = "--leader",
      description = "Have the leader answer, so that all that was committed before is in the dump.")
  private boolean leader;

  @Option(names = "--overwrite", description = "Replace FILE if it is there.")
  private boolean overwrite;

  @Parameters(
      paramLabel = "FILE",
      arity = "0..1",
      description = "Appears when it is complete; without it, the SQL goes to standard output.")
  private @Nullable Path file;

  DumpCommand() {}

  @Override
  public Integer call() {
    try {
      Path snapshot = Files.createTempFile("tollgate", ".snapshot");
      try {
        requireNew();
        SnapshotFetch.write(cluster.url(), cluster.properties(), leader, snapshot, null);
        dump(Backup.check(snapshot));
        return 0;
      } finally {
        Files.delete(snapshot);
      }
    } catch (IOException e) {
      return Main.failed("no dump was written", e);
    }
  }

  private void requireNew() throws FileAlreadyExistsException {
    if (file != null && !overwrite && Files.exists(file)) {
      throw new FileAlreadyExistsException(
          file.toString(), null, "is there already: --overwrite replaces it");
    }
  }

  private void dump(Backup backup) throws IOException {
    if (file == null) {
      write(backup, new FileOutputStream(FileDescriptor.out));
      return;
    }
    Path unfinished = file.resolveSibling(file.getFileName() + ".part");
    SyncedFiles.write(unfinished, out -> write(backup, Channels.newOutputStream(out)));
    requireNew();
    SyncedFiles.move(unfinished, file);
  }

  private static void write(Backup backup, OutputStream out) throws IOException {
    // an encoder fails on text that it cannot write; a charset would write a question mark
    Writer text =
        new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8.newEncoder()));
    SqlDump.write(backup, text);
    text.flush();
  }
}
