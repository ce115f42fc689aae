package dev.tollgate.migrations;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The scripts of a test. */
public record ScriptFiles(Path folder) {
  public ScriptFiles write(String name, String... lines) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, String.join("\n", lines) + "\n");
    return this;
  }
}
