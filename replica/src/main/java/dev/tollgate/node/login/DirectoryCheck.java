package dev.tollgate.node.login;

import static java.util.Objects.requireNonNull;

import com.unboundid.ldap.sdk.LDAPException;
import com.unboundid.ldap.sdk.ResultCode;
import dev.tollgate.core.command.Limits;
import dev.tollgate.tls.TlsCredentials;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * Has a directory check passwords, by LDAP over TLS. Each check has a thread and a connection of
 * its own, and ends in time whatever the directory does. Knows nothing of the users of the cluster.
 * Thread-safe.
 */
public final class DirectoryCheck implements AutoCloseable {
  /** What a check says. */
  public enum Verdict {
    /** The password is that of the user's entry. */
    RIGHT,
    /** There is no such entry, or it has another password, or may not log in. */
    WRONG,
    /** The directory cannot be used, or too many other passwords are being checked: try again. */
    UNAVAILABLE
  }

  /** How long a check may take in all; a driver takes a node for dead after 3 s of silence. */
  static final Duration WITHIN = Duration.ofMillis(2_500);

  /** How often the listener is told that the directory cannot be used. */
  static final Duration TOLD_EVERY = Duration.ofMinutes(1);

  private static final long IDLE_SECONDS = 30;

  private final DirectorySettings settings;
  private final DirectoryEntries entries;
  private final @Nullable WatchedFile<SSLSocketFactory> trust;
  private final LongSupplier nanos;
  private final TlsCredentials.Listener listener;
  private final ThreadPoolExecutor threads;
  private final ScheduledThreadPoolExecutor timer;

  /** The server that has answered last. */
  private final AtomicInteger preferred = new AtomicInteger();

  private @Nullable Long toldNanos;

  private DirectoryCheck(
      DirectorySettings settings,
      DirectoryEntries entries,
      @Nullable WatchedFile<SSLSocketFactory> trust,
      LongSupplier nanos,
      TlsCredentials.Listener listener) {
    this.settings = requireNonNull(settings, "settings");
    this.entries = requireNonNull(entries, "entries");
    this.trust = trust;
    this.nanos = requireNonNull(nanos, "nanos");
    this.listener = requireNonNull(listener, "listener");
    this.threads =
        new ThreadPoolExecutor(
            0,
            Limits.DIRECTORY_CHECKS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            new DefaultThreadFactory("tollgate-ldap", /* daemon= */ true));
    this.timer =
        new ScheduledThreadPoolExecutor(
            1, new DefaultThreadFactory("tollgate-ldap-timer", /* daemon= */ true));
    timer.setRemoveOnCancelPolicy(true);
    timer.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
    timer.allowCoreThreadTimeOut(true);
  }

  /**
   * Reads the files that the settings name.
   *
   * @throws IOException if a file cannot be used, or a name or a filter is none
   */
  static DirectoryCheck of(
      DirectorySettings settings, LongSupplier nanos, TlsCredentials.Listener listener)
      throws IOException {
    Path file = settings.trust();
    return new DirectoryCheck(
        settings,
        DirectoryEntries.of(settings.entries(), listener),
        file == null
            ? null
            : new WatchedFile<>(
                "the CAs of the directory", file, TrustedServers::sockets, listener),
        nanos,
        listener);
  }

  /**
   * Checks a password. Does not wait.
   *
   * @param user as the cluster spells it: the directory gets it in small letters, and two users do
   *     not become one by that
   * @param answer is called once, on a thread of this class or on this one, after {@link #WITHIN}
   *     at the latest
   */
  public void check(String user, String password, Consumer<Verdict> answer) {
    CompletableFuture<Verdict> decided = new CompletableFuture<>();
    var unused = decided.thenAccept(answer);
    OpenSockets sockets = new OpenSockets();
    try {
      Future<?> end =
          timer.schedule(
              () -> {
                sockets.end();
                if (decided.complete(Verdict.UNAVAILABLE)) {
                  report("it did not answer within " + WITHIN.toMillis() + " ms");
                }
              },
              WITHIN.toMillis(),
              TimeUnit.MILLISECONDS);
      threads.execute(
          () -> {
            try {
              decided.complete(examine(user.toLowerCase(Locale.ROOT), password, sockets));
            } catch (RuntimeException e) {
              // the library trusts a server to answer with what was asked for
              report("it answered in an unexpected way: " + e);
              decided.complete(Verdict.UNAVAILABLE);
            } catch (Error e) {
              report(String.valueOf(e));
              decided.complete(Verdict.UNAVAILABLE);
              throw e;
            } finally {
              end.cancel(false);
              sockets.end();
            }
          });
    } catch (RejectedExecutionException e) {
      // too many, or the node stops
      decided.complete(Verdict.UNAVAILABLE);
    }
  }

  private Verdict examine(String user, String password, OpenSockets sockets) {
    if (password.isEmpty() || password.indexOf(0) >= 0) {
      return Verdict.WRONG;
    }
    long end = nanos.getAsLong() + WITHIN.toNanos();
    int servers = settings.servers().size();
    int first = preferred.get();
    for (int i = 0; i < servers; i++) {
      int server = (first + i) % servers;
      long share = (end - nanos.getAsLong()) / (servers - i);
      Verdict verdict = ask(server, user, password, sockets, Duration.ofNanos(share));
      if (verdict != Verdict.UNAVAILABLE) {
        preferred.set(server);
        return verdict;
      }
    }
    return Verdict.UNAVAILABLE;
  }

  private Verdict ask(
      int server, String user, String password, OpenSockets sockets, Duration within) {
    URI address = settings.servers().get(server);
    try (DirectoryLink link = DirectoryLink.open(address, tls(), sockets, nanos, within)) {
      String name = entries.nameOf(user, link);
      return name != null && link.accepts(name, password) ? Verdict.RIGHT : Verdict.WRONG;
    } catch (DirectoryLink.NoSearchException e) {
      report(address + ": " + e.getMessage());
      return Verdict.UNAVAILABLE;
    } catch (LDAPException e) {
      boolean elsewhere = e.getResultCode().equals(ResultCode.REFERRAL);
      boolean ambiguous = e.getResultCode().equals(ResultCode.SIZE_LIMIT_EXCEEDED);
      report(
          address
              + ": "
              + (elsewhere
                  ? "it refers to another server, and this node follows no referral"
                  : e.getMessage()));
      return elsewhere || ambiguous ? Verdict.WRONG : Verdict.UNAVAILABLE;
    }
  }

  private SSLSocketFactory tls() {
    return trust == null ? (SSLSocketFactory) SSLSocketFactory.getDefault() : trust.content();
  }

  /** Strangers can have the directory asked at will, so the listener is told now and then. */
  private synchronized void report(String why) {
    long now = nanos.getAsLong();
    if (toldNanos == null || now - toldNanos >= TOLD_EVERY.toNanos()) {
      toldNanos = now;
      listener.failed("the directory of --ldap-url cannot check a login: " + why);
    }
  }

  /** Reads files that have changed. */
  void refresh() {
    entries.refresh();
    if (trust != null) {
      trust.refresh();
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
    threads.shutdownNow();
  }
}
