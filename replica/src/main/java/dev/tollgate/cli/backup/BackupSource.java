package dev.tollgate.cli.backup;

import java.io.IOException;
import java.nio.file.Path;

/** Where backups come from. */
public interface BackupSource {
  /**
   * Writes a file, syncs it and checks it.
   *
   * @param file replaced if it exists
   * @return what the file has, in words for an operator
   * @throws IOException if the file is not a complete backup
   */
  String write(Path file) throws IOException;
}
