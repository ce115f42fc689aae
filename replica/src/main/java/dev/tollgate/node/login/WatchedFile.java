package dev.tollgate.node.login;

import static java.util.Objects.requireNonNull;

import dev.tollgate.tls.TlsCredentials;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/**
 * What a file says, which is read again when the file changes. A file that becomes unusable changes
 * nothing. Thread-safe.
 */
public final class WatchedFile<T> {
  /** Makes something of a file. */
  public interface Reader<T> {
    T read(Path file) throws IOException;
  }

  private final String what;
  private final Path file;
  private final Reader<T> reader;
  private final TlsCredentials.Listener listener;
  private volatile T content;
  private String state;
  private @Nullable String failure;

  /**
   * @param what the file is about, in the plural, for messages
   * @param listener is told what becomes of the file when it has changed
   * @throws IOException if the file cannot be used
   */
  public WatchedFile(String what, Path file, Reader<T> reader, TlsCredentials.Listener listener)
      throws IOException {
    this.what = requireNonNull(what, "what");
    this.file = requireNonNull(file, "file");
    this.reader = requireNonNull(reader, "reader");
    this.listener = requireNonNull(listener, "listener");
    // in this order: what changes meanwhile is read again
    this.state = state(file);
    this.content = reader.read(file);
  }

  public Path file() {
    return file;
  }

  /** What the file says. */
  public T content() {
    return content;
  }

  /** Reads the file again if it has changed. Does I/O. */
  public synchronized void refresh() {
    try {
      String now = state(file);
      if (now.equals(state) && failure == null) {
        return;
      }
      content = reader.read(file);
      state = now;
      failure = null;
      listener.reloaded(what + " were read again from " + file);
    } catch (IOException e) {
      String why = what + ": " + e.getMessage();
      if (!why.equals(failure)) {
        failure = why;
        listener.failed(why);
      }
    }
  }

  private static String state(Path file) throws IOException {
    BasicFileAttributes now = Files.readAttributes(file, BasicFileAttributes.class);
    return now.lastModifiedTime() + "," + now.size() + "," + now.fileKey();
  }
}
