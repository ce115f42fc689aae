package dev.tollgate.cli;

import dev.tollgate.core.command.FencingToken;
import dev.tollgate.log.ratis.NodeDirectory;
import dev.tollgate.snapshot.Backup;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Makes the directory of a node of a new cluster from a backup. */
@Command(
    name = "restore",
    description = {
      "Makes the directory of a node of a new cluster out of a backup.",
      "Do this once for each node of the cluster, with the same FILE and the same epoch, before the"
          + " first of them is started. Never start nodes of the old cluster again."
    },
    mixinStandardHelpOptions = true)
final class RestoreCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "FILE", description = "What tollgate backup wrote.")
  private Path file;

  @Option(
      names = "--data",
      required = true,
      defaultValue = "${env:TOLLGATE_DATA}",
      description = "Directory of the node; it must not exist, or be empty. [TOLLGATE_DATA]")
  private Path data;

  @Option(
      names = "--epoch",
      description =
          "Epoch of the new cluster's fencing tokens, higher than any that was used since the"
              + " backup; by default one more than the backup's. Say it if this backup, or a later"
              + " one of the same cluster, has been restored before.")
  private @Nullable Integer epoch;

  @Mixin private final PassphraseOption passphrase = new PassphraseOption();
  @Mixin private final DataKeyOptions dataKeys = new DataKeyOptions();

  RestoreCommand() {}

  @Override
  public Integer call() {
    try {
      Backup backup = Backup.check(file, passphrase.read());
      int chosen = epoch == null ? backup.epoch() + 1 : epoch;
      if (chosen <= backup.epoch() || chosen > FencingToken.MAX_EPOCH) {
        throw new ParameterException(
            spec.commandLine(),
            "--epoch is "
                + chosen
                + ": it has to be more than the backup's, "
                + backup.epoch()
                + ", and at most "
                + FencingToken.MAX_EPOCH);
      }
      NodeDirectory.restore(data, backup, chosen, dataKeys.read(spec.commandLine()));
      System.out.printf(
          "%s: a node with what %s has, last changed %s; its tokens begin epoch %d%n",
          data, file, backup.at(), chosen);
      return 0;
    } catch (DirectoryNotEmptyException e) {
      return Main.failed("nothing was restored", new IOException(data + " is not empty", e));
    } catch (IOException e) {
      return Main.failed("nothing was restored", e);
    }
  }
}
