package dev.tollgate.node.login;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Where the keys of an issuer come from. Thread-safe. */
interface KeySource extends AutoCloseable {
  /** The keys; null while they are not known, or were for too long. Does not wait. */
  @Nullable IssuerKeys current();

  /**
   * Has the keys looked for again, because a token names one that is not there. Completes when that
   * has been done, or at once if it is too early. The value is true if the source has answered: a
   * key that is not in {@link #current} then is none of the issuer.
   */
  CompletableFuture<Boolean> again();

  /** Called each second; does I/O on files alone. */
  void refresh();

  @Override
  void close();

  /** Keys in a file, which is read again when it changes. */
  record OfFile(WatchedFile<IssuerKeys> file) implements KeySource {
    @Override
    public IssuerKeys current() {
      return file.content();
    }

    @Override
    public CompletableFuture<Boolean> again() {
      return CompletableFuture.completedFuture(true);
    }

    @Override
    public void refresh() {
      file.refresh();
    }

    @Override
    public void close() {}
  }
}
