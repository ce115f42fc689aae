package dev.tollgate.cli;

import dev.tollgate.log.PrivateFiles;
import dev.tollgate.seal.DataKeys;
import dev.tollgate.seal.KeyCommand;
import dev.tollgate.seal.KeyFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The options that say with which keys the data directory of a node is encrypted. */
final class DataKeyOptions {
  private static final Logger LOG = LoggerFactory.getLogger(DataKeyOptions.class);

  @Option(
      names = "--data-key-file",
      paramLabel = "FILE",
      defaultValue = "${env:TOLLGATE_DATA_KEY_FILE}",
      description =
          "File with the keys that encrypt what the node has in --data, and the audit files, a line"
              + " for each: a name, and 32 bytes in Base64. The first one encrypts, all decrypt. The"
              + " node reads"
              + " the file again when it changes. [TOLLGATE_DATA_KEY_FILE]")
  private @Nullable Path file;

  @Option(
      names = "--data-key-command",
      paramLabel = "COMMAND",
      defaultValue = "${env:TOLLGATE_DATA_KEY_COMMAND}",
      description =
          "Command for sh that prints what --data-key-file would have; within 30 s. The node runs"
              + " it at its start, and again every five minutes. [TOLLGATE_DATA_KEY_COMMAND]")
  private @Nullable String keyCommand;

  DataKeyOptions() {}

  /**
   * Reads the keys; returns none if no option is given.
   *
   * @throws IOException if there are none where the options say
   */
  DataKeys read(CommandLine command) throws IOException {
    if (file != null && keyCommand != null) {
      throw new ParameterException(
          command, "--data-key-file and --data-key-command both give the data keys: leave one out");
    }
    if (file != null) {
      String rights = Files.exists(file) ? PrivateFiles.rightsOfOthers(file) : null;
      if (rights != null) {
        LOG.warn("others may read the data key file {} ({}): chmod 600", file, rights);
      }
      return DataKeys.read(new KeyFile(file));
    }
    return keyCommand == null
        ? DataKeys.off()
        : DataKeys.read(new KeyCommand(keyCommand, KeyCommand.WITHIN));
  }
}
