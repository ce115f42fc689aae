package dev.tollgate.cli;

import dev.tollgate.log.PrivateFiles;
import dev.tollgate.snapshot.Passphrase;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Names a file with a passphrase: an argument would be in the list of processes. */
final class PassphraseOption {
  @Option(
      names = "--passphrase-file",
      paramLabel = "FILE",
      defaultValue = "${env:TOLLGATE_PASSPHRASE_FILE}",
      description =
          "File whose one line is the passphrase with which the backup is encrypted; without it the"
              + " backup is not encrypted. [TOLLGATE_PASSPHRASE_FILE]")
  private @Nullable Path file;

  PassphraseOption() {}

  /** Returns the passphrase, or null if none was named. */
  @Nullable Passphrase read() throws IOException {
    if (file == null) {
      return null;
    }
    Passphrase passphrase = Passphrase.read(file);
    String rights = PrivateFiles.rightsOfOthers(file);
    if (rights != null) {
      System.err.println(
          "tollgate: others may read the passphrase file " + file + " (" + rights + "): chmod 600");
    }
    return passphrase;
  }
}
