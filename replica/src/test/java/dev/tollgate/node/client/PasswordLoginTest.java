package dev.tollgate.node.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.node.client.PasswordLogin.Verdict;
import dev.tollgate.sql.UserNames;
import dev.tollgate.wire.PasswordVerifier;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Users that send their password, and a clock that the test moves. */
class PasswordLoginTest {
  private static final InetAddress HERE = InetAddress.getLoopbackAddress();

  private final Map<String, List<PasswordVerifier>> users = new TreeMap<>();
  private final List<String> told = new ArrayList<>();
  private boolean known = true;
  private long now = -7;
  private long number = 1;

  private final ClientAccess access =
      new ClientAccess(new Users(), (user, session) -> true, new Told(), () -> now);
  private @Nullable String closed;
  private final LoginDelays delays = new LoginDelays(ClientLimits.STANDARD, () -> now);
  private final PasswordLogin login = new PasswordLogin(access, delays, 1, 2);

  private final class Users implements Authentication {
    @Override
    public boolean isRequired() {
      return true;
    }

    @Override
    public boolean knowsUsers() {
      return known;
    }

    @Override
    public String spelled(String name) {
      return UserNames.spelled(name);
    }

    @Override
    public @Nullable User find(String spelled) {
      List<PasswordVerifier> passwords = users.get(spelled);
      return passwords == null ? null : new User(spelled, passwords, number, closed);
    }

    @Override
    public byte[] decoyKey() {
      return new byte[] {1, 2, 3};
    }
  }

  private final class Told implements AuthenticationListener {
    @Override
    public void loggedIn(Attempt attempt) {
      told.add(attempt.user() + " by " + attempt.mechanism());
    }

    @Override
    public void refused(Attempt attempt, Reason reason) {
      told.add(attempt.user() + " " + reason);
    }
  }

  private void add(String name, String... passwords) {
    byte[] salt = "0123456789abcdef".getBytes(StandardCharsets.UTF_8);
    List<PasswordVerifier> verifiers = new ArrayList<>();
    for (String password : passwords) {
      verifiers.add(PasswordVerifier.of(password, salt, PasswordVerifier.MIN_ITERATIONS));
    }
    users.put(name, verifiers);
  }

  private PasswordLogin.Result tryWith(String user, String password) {
    return login.byPassword(user, password, HERE, /* waited= */ false);
  }

  @Test
  void eachValidPasswordIsRightAndNoOther() {
    add("JO", "old", "new");
    PasswordLogin.Result right = tryWith("jo", "old");
    assertEquals(Verdict.RIGHT, right.verdict());
    assertEquals("JO", right.login().user());
    assertEquals(Verdict.RIGHT, tryWith("JO", "new").verdict());
    PasswordLogin.Result wrong = tryWith("jo", "olds");
    assertEquals(Verdict.WRONG, wrong.verdict());
    assertNull(wrong.login());
    assertEquals(Verdict.WRONG, tryWith("jo", "").verdict());
    assertEquals(
        List.of("JO by BASIC", "JO by BASIC", "JO WRONG_PASSWORD", "JO WRONG_PASSWORD"), told);
  }

  @Test
  void userThatDoesNotExistOrHasNoPasswordIsAsWrong() {
    add("CERTIFIED");
    assertEquals(Verdict.WRONG, tryWith("nobody", "secret").verdict());
    assertEquals(Verdict.WRONG, tryWith("certified", "").verdict());
    assertEquals(List.of("NOBODY NO_SUCH_USER", "CERTIFIED NO_SUCH_USER"), told);
  }

  /** Also one whose password is remembered; a stranger is told nothing. */
  @Test
  void userThatIsClosedIsTold() {
    add("JO", "secret");
    tryWith("jo", "secret");
    closed = "user JO is locked";
    PasswordLogin.Result result = tryWith("jo", "secret");
    assertEquals(Verdict.CLOSED, result.verdict());
    assertEquals("user JO is locked", result.why());
    assertNull(result.login());
    assertEquals(Verdict.WRONG, tryWith("jo", "olds").verdict());
    assertEquals(Verdict.CLOSED, login.byCertificate("jo", HERE).verdict());
    assertEquals(List.of("JO by BASIC", "JO CLOSED", "JO WRONG_PASSWORD", "JO CLOSED"), told);
    closed = null;
    assertEquals(Verdict.RIGHT, tryWith("jo", "secret").verdict());
  }

  /** A scrape each second must not compute each second, nor write audit lines. */
  @Test
  void rightPasswordIsRememberedForSomeMinutes() {
    add("JO", "secret");
    tryWith("jo", "secret");
    now += PasswordLogin.REMEMBERED.toNanos() - 1;
    assertEquals(Verdict.RIGHT, tryWith("jo", "secret").verdict());
    assertEquals(1, told.size());
    now += 1;
    assertEquals(Verdict.RIGHT, tryWith("jo", "secret").verdict());
    assertEquals(2, told.size());
  }

  @Test
  void rememberedPasswordIsWrongOnceItIsChangedOrItsUserDropped() {
    add("JO", "secret");
    tryWith("jo", "secret");
    add("JO", "changed");
    assertEquals(Verdict.WRONG, tryWith("jo", "secret").verdict());
    tryWith("jo", "changed");
    users.clear();
    assertEquals(Verdict.WRONG, tryWith("jo", "changed").verdict());
  }

  /** Users whom a directory vouches for have no verifiers that differ. */
  @Test
  void rememberedPasswordIsCheckedAgainForALaterUserOfTheName() {
    add("JO", "secret");
    tryWith("jo", "secret");
    tryWith("jo", "secret");
    assertEquals(1, told.size());
    number = 2;
    tryWith("jo", "secret");
    assertEquals(2, told.size());
  }

  @Test
  void rememberedPasswordsAreBounded() {
    for (String name : List.of("A", "B", "C")) {
      add(name, "secret");
      tryWith(name, "secret");
    }
    assertEquals(3, told.size());
    tryWith("C", "secret");
    assertEquals(3, told.size());
    tryWith("A", "secret");
    assertEquals(4, told.size(), "A had to make room for C");
  }

  @Test
  void failuresDelayAndThenRefuseAlsoTheRightPassword() {
    add("JO", "secret");
    for (int i = 0; i < 8; i++) {
      delays.failed("JO", HERE.getHostAddress());
    }
    PasswordLogin.Result refused = tryWith("jo", "secret");
    assertEquals(Verdict.TOO_MANY, refused.verdict());
    assertTrue(refused.retryAfter().compareTo(LoginDelays.LONGEST_HELD) > 0);
    assertEquals(List.of("JO TOO_MANY_FAILURES"), told);
    now += refused.retryAfter().toNanos();
    assertEquals(Verdict.RIGHT, tryWith("jo", "secret").verdict());
  }

  /** A place is for a password that is computed: the only one there is, here. */
  @Test
  void loginThatWaitsAfterFailuresHoldsNothing() {
    add("JO", "secret");
    add("MO", "other secret");
    for (int i = 0; i <= LoginDelays.FREE_FAILURES; i++) {
      delays.failed("JO", HERE.getHostAddress());
    }
    PasswordLogin.Result later = tryWith("jo", "secret");
    assertEquals(Verdict.LATER, later.verdict());
    assertEquals(LoginDelays.FIRST_DELAY, later.retryAfter());
    assertEquals(Verdict.RIGHT, tryWith("mo", "other secret").verdict());
    assertEquals(
        Verdict.RIGHT, login.byPassword("jo", "secret", HERE, /* waited= */ true).verdict());
    assertEquals(List.of("MO by BASIC", "JO by BASIC"), told);
  }

  @Test
  void failuresCountWithThoseOfOtherLogins() {
    add("JO", "secret");
    for (int i = 0; i <= LoginDelays.FREE_FAILURES; i++) {
      tryWith("jo", "wrong");
    }
    assertEquals(LoginDelays.FIRST_DELAY, delays.enter("JO", HERE.getHostAddress()));
  }

  @Test
  void furtherChecksAreRefusedWhileOthersAreUnderWay() {
    add("JO", "secret");
    PasswordLogin full = new PasswordLogin(access, delays, 0, 2);
    assertEquals(
        Verdict.BUSY, full.byPassword("jo", "secret", HERE, /* waited= */ false).verdict());
    assertEquals(List.of(), told);
  }

  @Test
  void nodeThatDoesNotKnowTheUsersYetSaysSo() {
    add("JO", "secret");
    tryWith("jo", "secret");
    known = false;
    assertEquals(Verdict.NOT_YET, tryWith("jo", "secret").verdict());
    assertEquals(Verdict.NOT_YET, login.byCertificate("jo", HERE).verdict());
  }

  @Test
  void certificateNeedsAUserOfItsName() {
    add("JO");
    PasswordLogin.Result right = login.byCertificate("jo", HERE);
    assertEquals(Verdict.RIGHT, right.verdict());
    assertEquals("JO", right.login().user());
    login.byCertificate("jo", HERE);
    assertEquals(Verdict.WRONG, login.byCertificate("mo", HERE).verdict());
    assertEquals(List.of("JO by EXTERNAL", "MO WRONG_CERTIFICATE"), told);
    users.clear();
    assertEquals(Verdict.WRONG, login.byCertificate("jo", HERE).verdict());
    assertEquals(Duration.ZERO, right.retryAfter());
  }
}
