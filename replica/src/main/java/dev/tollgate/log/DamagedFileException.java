package dev.tollgate.log;

import java.io.IOException;
import java.nio.file.Path;

/** A file has something else in it than what {@link WholeFile} wrote to it. */
public final class DamagedFileException extends IOException {
  /** What is wrong, for messages that name the file themselves. */
  public static final String HOW = "its content does not fit its checksum";

  private static final long serialVersionUID = 1L;

  DamagedFileException(Path file) {
    super(file + " is damaged: " + HOW);
  }
}
