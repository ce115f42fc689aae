package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import dev.tollgate.node.client.Authentication.User;
import dev.tollgate.node.client.AuthenticationListener.Attempt;
import dev.tollgate.node.client.AuthenticationListener.Reason;
import dev.tollgate.node.client.PasswordLogin.Verdict;
import dev.tollgate.node.login.DirectoryCheck;
import dev.tollgate.node.login.LoginMethod;
import java.net.InetAddress;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Checks users whose passwords a directory knows, at the port for clients and over HTTP. Failures
 * count with those of {@link Login}. A password goes to the directory only if a rule says so for
 * the user, and then whether the cluster has the user or not, because the time would tell.
 * Thread-safe.
 */
final class DirectoryLogin {
  /** How such a login is called in the audit file. */
  static final String MECHANISM = "LDAP";

  /**
   * A login.
   *
   * @param user as the cluster spells it
   * @param address by which failures are counted
   * @param from null for a client within this process
   */
  record Shown(String user, String password, String address, @Nullable InetAddress from) {
    Shown {
      requireNonNull(user, "user");
      requireNonNull(password, "password");
      requireNonNull(address, "address");
    }

    Attempt attempt() {
      return new Attempt(user, address, MECHANISM);
    }

    /** Without the password. */
    @Override
    public String toString() {
      return "Shown[user=" + user + ", address=" + address + "]";
    }
  }

  /**
   * What became of it.
   *
   * @param user null unless the verdict is {@link Verdict#RIGHT}
   * @param why for the client; empty unless the verdict is {@link Verdict#CLOSED} or {@link
   *     Verdict#BUSY}
   */
  record Decision(Verdict verdict, @Nullable User user, String why) {
    Decision {
      requireNonNull(verdict, "verdict");
      requireNonNull(why, "why");
    }
  }

  private static final Decision BUSY =
      new Decision(
          Verdict.BUSY,
          null,
          "the directory (LDAP) could not check the password: try again, or look at the log of the"
              + " node");

  private final ClientAccess access;
  private final LoginDelays delays;
  private final CheckPlaces places =
      new CheckPlaces(
          Limits.DIRECTORY_CHECKS,
          Limits.DIRECTORY_CHECKS_PER_ADDRESS,
          Limits.DIRECTORY_CHECKS_PER_USER);

  DirectoryLogin(ClientAccess access, LoginDelays delays) {
    this.access = requireNonNull(access, "access");
    this.delays = requireNonNull(delays, "delays");
  }

  /** True if a directory checks the password of some user at an address. */
  boolean isOffered(@Nullable InetAddress from) {
    return access.rules().methods().directory() != null
        && access.rules().methods().offer(LoginMethod.LDAP, from);
  }

  /**
   * True if a directory checks the password of this user.
   *
   * @param user as the cluster spells it
   */
  boolean isFor(String user, @Nullable InetAddress from) {
    return access.rules().methods().directory() != null
        && access.rules().methods().allow(LoginMethod.LDAP, user, from);
  }

  /** How long to wait until the password may be checked; see {@link LoginDelays#enter}. */
  Duration delay(Shown shown) {
    return delays.enter(shown.user(), shown.address());
  }

  /**
   * Checks a password. Does not wait.
   *
   * @param answer is called once, on this thread or another one
   */
  void check(Shown shown, Consumer<Decision> answer) {
    DirectoryCheck directory = access.rules().methods().directory();
    if (!access.users().knowsUsers()) {
      answer.accept(new Decision(Verdict.NOT_YET, null, ""));
    } else if (directory == null || !isFor(shown.user(), shown.from())) {
      answer.accept(wrong(shown, Reason.NOT_ALLOWED));
    } else if (!places.take(shown.user(), shown.address())) {
      answer.accept(BUSY);
    } else {
      directory.check(
          shown.user(),
          shown.password(),
          verdict -> {
            places.giveBack(shown.user(), shown.address());
            answer.accept(decide(shown, verdict));
          });
    }
  }

  private Decision decide(Shown shown, DirectoryCheck.Verdict verdict) {
    return switch (verdict) {
      case RIGHT -> right(shown);
      case WRONG ->
          wrong(
              shown,
              access.users().find(shown.user()) == null
                  ? Reason.NO_SUCH_USER
                  : Reason.WRONG_PASSWORD);
      case UNAVAILABLE -> BUSY;
    };
  }

  /** The users of the cluster may have changed meanwhile. */
  private Decision right(Shown shown) {
    User user = access.users().find(shown.user());
    if (user == null) {
      return wrong(shown, Reason.NO_SUCH_USER);
    }
    delays.succeeded(shown.user(), shown.address());
    String closed = user.closed();
    if (closed != null) {
      access.listener().refused(shown.attempt(), Reason.CLOSED);
      return new Decision(Verdict.CLOSED, null, closed);
    }
    access.listener().loggedIn(shown.attempt());
    return new Decision(Verdict.RIGHT, user, "");
  }

  private Decision wrong(Shown shown, Reason reason) {
    delays.failed(shown.user(), shown.address());
    access.listener().refused(shown.attempt(), reason);
    return new Decision(Verdict.WRONG, null, "");
  }
}
