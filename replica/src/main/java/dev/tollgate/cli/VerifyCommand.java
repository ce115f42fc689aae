package dev.tollgate.cli;

import dev.tollgate.node.BackupTrial;
import dev.tollgate.snapshot.Backup;
import dev.tollgate.snapshot.Passphrase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Says whether files are backups that a cluster could be restored from. */
@Command(
    name = "verify",
    description = {
      "Reads backups to their ends, and says whether they are complete and unchanged, and whether a",
      "node could read each definition and each row in them.",
      "No node and no cluster is needed, and none is changed."
    },
    exitCodeListHeading = "Exit status:%n",
    exitCodeList = {
      "0:all files are good",
      "1:a file is not, or cannot be read; the others were checked too",
      "2:the command line is wrong"
    },
    mixinStandardHelpOptions = true)
final class VerifyCommand implements Callable<Integer> {
  @Parameters(arity = "1..*", paramLabel = "FILE", description = "What tollgate backup wrote.")
  private List<Path> files;

  @Option(
      names = "--load",
      description =
          "Load each file into memory, too, as a node does that starts from it. Needs the heap of"
              + " such a node: TOLLGATE_HEAP.")
  private boolean load;

  @Mixin private final PassphraseOption passphrase = new PassphraseOption();

  VerifyCommand() {}

  @Override
  public Integer call() {
    Passphrase secret;
    try {
      secret = passphrase.read();
    } catch (IOException e) {
      return Main.failed("nothing was checked", e);
    }
    int status = 0;
    for (Path file : files) {
      try {
        check(file, secret);
      } catch (IOException e) {
        status = Main.failed(file + " is not good", e);
      }
    }
    return status;
  }

  private void check(Path file, @Nullable Passphrase secret) throws IOException {
    Backup backup = Backup.check(file, secret);
    long rows = BackupTrial.read(backup);
    String loaded = load ? ", loads: " + BackupTrial.load(backup) : "";
    System.out.printf(
        "%s: good, log index %d, last changed %s, epoch %d, %d bytes, %d rows%s%s%n",
        file,
        backup.logIndex(),
        backup.at(),
        backup.epoch(),
        Files.size(file),
        rows,
        secret == null ? "" : ", encrypted",
        loaded);
  }
}
