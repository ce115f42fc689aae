package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.Text;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The beginning of one connection: hello, and the login if the node requires one. Knows who the
 * client is. Until the greeting is over, nothing else is served. The transport calls it as it does
 * {@link ClientConnection}; {@link #user} may be called from any thread.
 */
final class Greeting {
  private final ClusterInfo cluster;
  private final Authentication users;
  private final LiveLogins logins;
  private final ReplyChannel replies;
  private final Login login;
  private final Runnable onOver;
  private final BooleanSupplier hasSession;
  private final @Nullable LoginProof admitted;
  private @Nullable ClientInfo client;
  private boolean loginRequired;
  private int version;
  private boolean over;
  private boolean disconnected;
  private LiveLogins.@Nullable Watch watch;
  private volatile @Nullable LoginProof proof;

  /**
   * @param onOver called when the client is known, before it is told
   * @param hasSession whether the connection has a session that is open
   * @param admitted the login of a client in this process whose login was checked elsewhere; null
   *     for a client that logs in here, if it has to
   */
  Greeting(
      ClusterInfo cluster,
      Authentication users,
      LiveLogins logins,
      ReplyChannel replies,
      Login login,
      Runnable onOver,
      BooleanSupplier hasSession,
      @Nullable LoginProof admitted) {
    this.cluster = requireNonNull(cluster, "cluster");
    this.users = requireNonNull(users, "users");
    this.logins = requireNonNull(logins, "logins");
    this.replies = requireNonNull(replies, "replies");
    this.login = requireNonNull(login, "login");
    this.onOver = requireNonNull(onOver, "onOver");
    this.hasSession = requireNonNull(hasSession, "hasSession");
    this.admitted = admitted;
  }

  /** True once the node may serve this client. */
  boolean isOver() {
    return over;
  }

  /** Who the client says it is. */
  ClientInfo client() {
    return requireNonNull(client, "client");
  }

  /** The user that has logged in, as the cluster spells the name; null if no login was required. */
  @Nullable String user() {
    LoginProof proven = proof;
    return proven == null ? null : proven.user();
  }

  /** How the client has proven who it is; null if no login was required. */
  @Nullable LoginProof proof() {
    return proof;
  }

  /** Ends the connection if its login no longer counts; returns false if it does. */
  boolean endIfOutdated(Consumer<Reply> answer) {
    LoginProof proven = proof;
    LiveLogins.End end = proven == null ? null : logins.endOfConnection(proven, hasSession);
    if (end != null) {
      login.outdated(end, answer);
    }
    return end != null;
  }

  /** Why the user could not log in now, though its connection goes on; null if it could. */
  @Nullable String closed() {
    LoginProof proven = proof;
    return proven == null ? null : logins.closed(proven);
  }

  /** True if the client did not have to log in, has to now, and is not the one that changed it. */
  boolean isLeftOver() {
    return proof == null && users.isRequired() && !hasSession.getAsBoolean();
  }

  /** Has the connection end with its login, whatever goes on there. */
  private void watch() {
    LoginProof proven = proof;
    // what was admitted elsewhere ends there
    if (proven != null && admitted == null && watch == null && !disconnected) {
      watch =
          logins.watchConnection(
              proven,
              hasSession,
              end -> {
                if (end.renewable()) {
                  replies.close();
                } else {
                  replies.refuse(
                      replies::push, new Reply.Failure(SqlState.LOGIN_REFUSED, end.why()));
                }
              });
    }
  }

  /** The client is gone. */
  void disconnected() {
    disconnected = true;
    if (watch != null) {
      watch.close();
    }
  }

  /** Takes hello, or any request before the greeting is over. */
  void take(Request request, Consumer<Reply> answer) {
    // a client may have sent a ping because hello took long; it is not served, and no offense
    if (login.hasEnded() || (loginRequired && request instanceof Request.Ping)) {
      return;
    }
    if (request instanceof Request.Hello hello && (over || !loginRequired)) {
      hello(hello, answer);
    } else if (!loginRequired) {
      replies.refuse(answer, "the first request has to be a hello");
    } else if (request instanceof Request.BeginLogin begin) {
      login.begin(begin, answer, (proven, last) -> over(proven, last, answer));
    } else if (request instanceof Request.ContinueLogin next) {
      login.proceed(next, answer, (proven, last) -> over(proven, last, answer));
    } else {
      login.skipped(answer);
    }
  }

  private void hello(Request.Hello hello, Consumer<Reply> answer) {
    if (hello.minVersion() > Protocol.VERSION || hello.maxVersion() < 1) {
      replies.refuse(
          answer,
          "this node speaks version 1 to "
              + Protocol.VERSION
              + " of the protocol, the client "
              + hello.minVersion()
              + " to "
              + hello.maxVersion());
      return;
    }
    if (!Text.isWellFormed(hello.application() + ' ' + hello.host() + ' ' + hello.process())) {
      replies.refuse(
          answer, "the client's description of itself has half of a character, a lone surrogate");
      return;
    }
    version = Math.min(Protocol.VERSION, hello.maxVersion());
    if (!over && admitted == null && users.isRequired()) {
      loginRequired = login.require(version, answer);
      if (!loginRequired) {
        return;
      }
    }
    client =
        new ClientInfo(
            Text.first(hello.application(), Limits.DESCRIPTION_CHARS),
            Text.first(hello.host(), Limits.DESCRIPTION_CHARS),
            Text.first(hello.process(), Limits.DESCRIPTION_CHARS));
    if (over || (!loginRequired && isThereRoom(admitted == null ? "" : admitted.user(), answer))) {
      if (!over) {
        proof = admitted;
      }
      over = true;
      onOver.run();
      answer.accept(welcome());
      watch();
    }
  }

  /** Counts the client among those of its user; if the node has no room for it, tells it why. */
  private boolean isThereRoom(String name, Consumer<Reply> answer) {
    String noRoom = replies.introduced(name);
    if (noRoom != null) {
      replies.complain("is one client too many");
      replies.refuse(answer, new Reply.Failure(SqlState.TOO_MANY, noRoom));
    }
    return noRoom == null;
  }

  private void over(LoginProof proven, byte[] last, Consumer<Reply> answer) {
    if (!isThereRoom(proven.user(), answer)) {
      return;
    }
    proof = proven;
    over = true;
    onOver.run();
    answer.accept(new Reply.LoggedIn(last, welcome()));
    watch();
  }

  private Reply.Welcome welcome() {
    return new Reply.Welcome(
        version, cluster.nodeId(), cluster.view(), cluster.clusterId(), cluster.term());
  }
}
