package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Decides for every door of a node whether a login still counts, and tells whatever goes on by a
 * login once it does not: connections of clients, and requests over HTTP. A login ends with its
 * token, and with a change of its user. Thread-safe; nothing here waits.
 */
public final class LiveLogins {
  /**
   * Why a login no longer counts.
   *
   * @param why for the client
   * @param renewable whether the client goes on if it proves itself anew
   */
  public record End(String why, boolean renewable) {
    public End {
      requireNonNull(why, "why");
    }
  }

  /** Something that goes on by a login. */
  public final class Watch implements AutoCloseable {
    private final @Nullable LoginProof login;

    /** Null for a request, which is no connection. */
    private final @Nullable BooleanSupplier hasSession;

    private final Consumer<End> ended;
    private final AtomicBoolean open = new AtomicBoolean(true);
    private final CompletableFuture<@Nullable Void> expiry = new CompletableFuture<>();

    private Watch(
        @Nullable LoginProof login, @Nullable BooleanSupplier hasSession, Consumer<End> ended) {
      this.login = login;
      this.hasSession = hasSession;
      this.ended = ended;
    }

    private void begin() {
      watches.compute(key(login), (key, others) -> with(this, others));
      if (login != null && login.left() != null) {
        var unused =
            expiry
                .completeOnTimeout(null, login.left().toNanos(), TimeUnit.NANOSECONDS)
                .thenRun(() -> end(EXPIRED));
      }
      // after it is known to those that change users: no change comes between
      check();
    }

    private void check() {
      BooleanSupplier session = hasSession;
      End end =
          login == null || session == null ? endOfRequest(login) : endOfConnection(login, session);
      if (end != null) {
        end(end);
      }
    }

    private void end(End end) {
      if (forget()) {
        ended.accept(end);
      }
    }

    private boolean forget() {
      boolean was = open.getAndSet(false);
      if (was) {
        watches.computeIfPresent(key(login), (key, all) -> without(this, all));
        expiry.cancel(false);
      }
      return was;
    }

    /** What went on is over. */
    @Override
    public void close() {
      var unused = forget();
    }
  }

  private static final End EXPIRED =
      new End(
          "the token of this login has expired: log in with a fresh one", /* renewable= */ true);

  /** Stands for those that did not have to log in. No user has this name. */
  private static final String NOBODY = "";

  private final Authentication users;

  /** By user; no set is empty. */
  private final Map<String, Set<Watch>> watches = new ConcurrentHashMap<>();

  LiveLogins(Authentication users) {
    this.users = requireNonNull(users, "users");
  }

  private static String key(@Nullable LoginProof login) {
    return login == null ? NOBODY : login.user();
  }

  private static Set<Watch> with(Watch watch, @Nullable Set<Watch> others) {
    Set<Watch> all = others == null ? ConcurrentHashMap.newKeySet() : others;
    all.add(watch);
    return all;
  }

  private static @Nullable Set<Watch> without(Watch watch, Set<Watch> all) {
    all.remove(watch);
    return all.isEmpty() ? null : all;
  }

  /**
   * Watches the login of a connection, which has to be closed.
   *
   * @param hasSession whether the connection has a session that is open
   * @param ended called at most once, by any thread, at once if the login does not count; must not
   *     wait
   */
  Watch watchConnection(LoginProof login, BooleanSupplier hasSession, Consumer<End> ended) {
    Watch watch = new Watch(login, hasSession, ended);
    watch.begin();
    return watch;
  }

  /**
   * Watches the login of a request, which has to be closed.
   *
   * @param login null if none was required
   * @param ended called at most once, by any thread, at once if the login does not count; must not
   *     wait
   */
  public Watch watchRequest(@Nullable LoginProof login, Consumer<End> ended) {
    Watch watch = new Watch(login, /* hasSession= */ null, ended);
    watch.begin();
    return watch;
  }

  /**
   * Why the login of a connection no longer counts; null if it does. A session that has outlived
   * the other sessions of its user keeps its connection, and so does one whose user has expired.
   */
  @Nullable End endOfConnection(LoginProof login, BooleanSupplier hasSession) {
    Authentication.User now = users.find(login.user());
    boolean counts = now != null && (now.number() == login.number() || hasSession.getAsBoolean());
    return counts || !users.knowsUsers() ? null : outdated(login.user(), now);
  }

  /**
   * Why the user of a connection may not begin anything by its login that lasts longer than its
   * session, though the connection goes on; null if it may.
   */
  @Nullable String closed(LoginProof login) {
    Authentication.User now = users.find(login.user());
    return now == null ? null : now.closed();
  }

  private @Nullable End endOfRequest(@Nullable LoginProof login) {
    if (login == null) {
      return users.isRequired()
          ? new End("the cluster has users now: log in", /* renewable= */ false)
          : null;
    }
    Authentication.User now = users.find(login.user());
    boolean counts = now != null && now.number() == login.number() && now.closed() == null;
    return counts || !users.knowsUsers() ? null : outdated(login.user(), now);
  }

  private static End outdated(String user, Authentication.@Nullable User now) {
    String closed = now == null ? "user '" + user + "' was dropped" : now.closed();
    return new End(
        closed == null
            ? "the logins of user '" + user + "' so far no longer count: log in again"
            : closed,
        /* renewable= */ false);
  }

  /** Users may have changed: tells everything that goes on by a login that counts no longer. */
  void usersMayHaveChanged() {
    watches.values().forEach(all -> all.forEach(Watch::check));
  }

  /** What goes on by logins now. */
  int size() {
    return watches.values().stream().mapToInt(Set::size).sum();
  }

  /** Requests that go on by logins of a user now, beside its connections. */
  public int requests(String user) {
    return (int)
        watches.getOrDefault(user, Set.of()).stream()
            .filter(watch -> watch.hasSession == null)
            .count();
  }
}
