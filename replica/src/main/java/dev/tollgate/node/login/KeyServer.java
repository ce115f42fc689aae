package dev.tollgate.node.login;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import dev.tollgate.tls.TlsCredentials;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * The keys of an issuer at an https address. A thread of its own fetches them: every five minutes,
 * and when a token names a key that is not there, but then at most once a minute. If that fails,
 * the former keys count for an hour after they were fetched, and after that no token does.
 * Thread-safe.
 */
final class KeyServer implements KeySource {
  /** How often keys are fetched. */
  static final Duration FETCHED_EVERY = Duration.ofMinutes(5);

  /** How long after a failure they are fetched again. */
  static final Duration AFTER_FAILURE = Duration.ofSeconds(10);

  /** The shortest time between two fetches that tokens ask for. */
  static final Duration ASKED_EVERY = Duration.ofMinutes(1);

  /** How long keys count after they were fetched. */
  static final Duration KEPT = Duration.ofHours(1);

  /** How long a connection, and how long each part of an answer may take. */
  private static final int STEP_MILLIS = 3_000;

  /** How long an answer may take in all, beside its last part. */
  private static final Duration IN_ALL = Duration.ofSeconds(5);

  /** How long a fetch may take in all: a server may send the head of its answer bit by bit. */
  static final Duration LONGEST_FETCH = Duration.ofSeconds(15);

  private static final int PART_BYTES = 8_192;

  /**
   * @param nanos when they were fetched
   */
  private record Known(IssuerKeys keys, long nanos) {}

  private final URI address;
  private final @Nullable SSLSocketFactory sockets;
  private final LongSupplier nanos;
  private final TlsCredentials.Listener listener;
  private final ExecutorService thread;
  private volatile @Nullable Known known;

  /** Of the fetch that is under way. */
  private volatile @Nullable HttpsURLConnection open;

  private @Nullable CompletableFuture<Boolean> fetching;
  private @Nullable Long triedNanos;
  private @Nullable String failure;

  /**
   * @param trust file with certificates of CAs, PEM; null for those of the JDK
   * @param nanos a clock that does not go back
   * @throws IOException if the file cannot be used
   */
  KeyServer(
      URI address,
      @Nullable Path trust,
      LongSupplier nanos,
      TlsCredentials.Listener listener,
      ThreadFactory threads)
      throws IOException {
    this.address = requireNonNull(address, "address");
    this.sockets = trust == null ? null : TrustedServers.sockets(trust);
    this.nanos = requireNonNull(nanos, "nanos");
    this.listener = requireNonNull(listener, "listener");
    this.thread =
        new ThreadPoolExecutor(
            0, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(1), requireNonNull(threads));
  }

  @Override
  public @Nullable IssuerKeys current() {
    Known found = known;
    return found == null || isOlder(found.nanos(), KEPT) ? null : found.keys();
  }

  private boolean isOlder(long since, Duration age) {
    return nanos.getAsLong() - since > age.toNanos();
  }

  @Override
  public synchronized CompletableFuture<Boolean> again() {
    Long tried = triedNanos;
    return fetching != null || tried == null || isOlder(tried, ASKED_EVERY)
        ? fetch()
        : CompletableFuture.completedFuture(failure == null);
  }

  @Override
  public void refresh() {
    CompletableFuture<Boolean> late = lateOrBegun();
    if (late == null) {
      return;
    }
    // who waits for it does not depend on what the network does with the end of a connection
    late.complete(false);
    HttpsURLConnection connection = open;
    if (connection != null) {
      connection.disconnect();
    }
  }

  /** Returns a fetch that takes too long; else fetches if it is time to, and returns null. */
  private synchronized @Nullable CompletableFuture<Boolean> lateOrBegun() {
    Long tried = triedNanos;
    if (fetching != null) {
      return tried != null && isOlder(tried, LONGEST_FETCH) ? fetching : null;
    }
    if (tried == null || isOlder(tried, failure == null ? FETCHED_EVERY : AFTER_FAILURE)) {
      var unused = fetch();
    }
    return null;
  }

  /** Begins to fetch, unless that is under way. */
  private CompletableFuture<Boolean> fetch() {
    CompletableFuture<Boolean> running = fetching;
    if (running != null) {
      return running;
    }
    CompletableFuture<Boolean> begun = new CompletableFuture<>();
    triedNanos = nanos.getAsLong();
    fetching = begun;
    boolean given = false;
    try {
      thread.execute(() -> run(begun));
      given = true;
    } catch (RejectedExecutionException e) {
      // the node stops
    } finally {
      // also if there is no memory for a thread
      if (!given) {
        fetching = null;
        begun.complete(false);
      }
    }
    return begun;
  }

  private void run(CompletableFuture<Boolean> begun) {
    // so it stays after an error of the JVM, which goes to the handler of the thread
    String why = "the fetch broke off with an error";
    try {
      IssuerKeys fetched = IssuerKeys.parse(address.toString(), download());
      known = new Known(fetched, nanos.getAsLong());
      why = null;
    } catch (IOException | RuntimeException e) {
      why = e.getMessage() == null ? e.toString() : e.getMessage();
    } finally {
      try {
        ended(begun, why);
      } finally {
        begun.complete(why == null);
      }
    }
  }

  private synchronized void ended(CompletableFuture<Boolean> begun, @Nullable String why) {
    if (fetching == begun) {
      fetching = null;
    }
    String before = failure;
    failure = why;
    if (why == null && before != null) {
      listener.reloaded("the keys for tokens were fetched again from " + address);
    } else if (why != null && before == null) {
      listener.failed(
          "the keys for tokens were not fetched from "
              + address
              + ": "
              + why
              + "; keys that were fetched before count for "
              + KEPT.toMinutes()
              + " minutes");
    }
  }

  private byte[] download() throws IOException {
    HttpsURLConnection connection = (HttpsURLConnection) address.toURL().openConnection();
    if (sockets != null) {
      connection.setSSLSocketFactory(sockets);
    }
    connection.setConnectTimeout(STEP_MILLIS);
    connection.setReadTimeout(STEP_MILLIS);
    connection.setInstanceFollowRedirects(false);
    connection.setUseCaches(false);
    connection.setRequestProperty("Accept", "application/jwk-set+json, application/json");
    open = connection;
    try {
      if (connection.getResponseCode() != HttpURLConnection.HTTP_OK) {
        throw new IOException("the server answers with status " + connection.getResponseCode());
      }
      return body(connection);
    } finally {
      open = null;
      connection.disconnect();
    }
  }

  private byte[] body(HttpsURLConnection connection) throws IOException {
    long begun = nanos.getAsLong();
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    byte[] part = new byte[PART_BYTES];
    try (InputStream in = connection.getInputStream()) {
      for (int read = in.read(part); read >= 0; read = in.read(part)) {
        body.write(part, 0, read);
        if (body.size() > Limits.TOKEN_KEYS_BYTES) {
          throw new IOException("the answer has more than " + Limits.TOKEN_KEYS_BYTES + " bytes");
        }
        if (isOlder(begun, IN_ALL)) {
          throw new IOException("the answer took longer than " + IN_ALL.toSeconds() + " s");
        }
      }
    }
    return body.toByteArray();
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }
}
