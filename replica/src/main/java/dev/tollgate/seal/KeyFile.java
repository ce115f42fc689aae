package dev.tollgate.seal;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** Data keys in a file. */
public record KeyFile(Path file) implements KeySource {
  private static final Duration RELOAD = Duration.ofSeconds(1);

  public KeyFile {
    requireNonNull(file, "file");
  }

  @Override
  public byte[] read() throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return in.readNBytes(KeyRing.MOST_BYTES + 1);
    } catch (IOException e) {
      throw new IOException(describe() + " cannot be read: " + e, e);
    }
  }

  @Override
  public Duration reloadInterval() {
    return RELOAD;
  }

  @Override
  public String describe() {
    return "the data key file " + file;
  }
}
