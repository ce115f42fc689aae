package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.Command;
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
  private final ReplyChannel replies;
  private final Login login;
  private final Runnable onOver;
  private final @Nullable String admitted;
  private @Nullable ClientInfo client;
  private boolean loginRequired;
  private int version;
  private boolean over;
  private long userNumber = Command.OpenSession.ANY_NUMBER;
  private volatile @Nullable String user;

  /**
   * @param onOver called when the client is known, before it is told
   * @param admitted the user of a client in this process whose login was checked elsewhere; null
   *     for a client that logs in here, if it has to
   */
  Greeting(
      ClusterInfo cluster,
      Authentication users,
      ReplyChannel replies,
      Login login,
      Runnable onOver,
      @Nullable String admitted) {
    this.cluster = requireNonNull(cluster, "cluster");
    this.users = requireNonNull(users, "users");
    this.replies = requireNonNull(replies, "replies");
    this.login = requireNonNull(login, "login");
    this.onOver = requireNonNull(onOver, "onOver");
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
    return user;
  }

  /** Tells the login from others of the name; see {@link Authentication.User#number}. */
  long userNumber() {
    return userNumber;
  }

  /**
   * Ends the connection if its login no longer counts; returns false if it does. A session that has
   * outlived the other sessions of its user keeps its connection.
   *
   * @param hasSession whether the connection has a session that is open
   */
  boolean endIfOutdated(BooleanSupplier hasSession, Consumer<Reply> answer) {
    String name = user;
    Authentication.User found = name == null ? null : users.find(name);
    boolean counts = found != null && (found.number() == userNumber || hasSession.getAsBoolean());
    if (name == null || counts || !users.knowsUsers()) {
      return false;
    }
    login.outdated(name, found, answer);
    return true;
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
    if (over || (!loginRequired && isThereRoom(admitted == null ? "" : admitted, answer))) {
      if (!over) {
        admit();
      }
      over = true;
      onOver.run();
      answer.accept(welcome());
    }
  }

  private void admit() {
    Authentication.User known = admitted == null ? null : users.find(admitted);
    userNumber = known == null ? Command.OpenSession.ANY_NUMBER : known.number();
    user = admitted;
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

  private void over(Authentication.User proven, byte[] last, Consumer<Reply> answer) {
    if (!isThereRoom(proven.name(), answer)) {
      return;
    }
    user = proven.name();
    userNumber = proven.number();
    over = true;
    onOver.run();
    answer.accept(new Reply.LoggedIn(last, welcome()));
  }

  private Reply.Welcome welcome() {
    return new Reply.Welcome(
        version, cluster.nodeId(), cluster.view(), cluster.clusterId(), cluster.term());
  }
}
