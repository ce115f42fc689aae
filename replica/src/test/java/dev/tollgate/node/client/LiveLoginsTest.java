package dev.tollgate.node.client;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.node.login.LoginMethod;
import dev.tollgate.sql.UserNames;
import dev.tollgate.wire.PasswordVerifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who is told when a login ends, with users that the test changes. */
@Timeout(60)
class LiveLoginsTest {
  private static final LoginProof JO = new LoginProof("JO", 1, LoginMethod.SCRAM, null);

  private final Map<String, Authentication.User> users = new TreeMap<>();
  private boolean known = true;
  private boolean hasSession;
  private final List<String> ended = Collections.synchronizedList(new ArrayList<>());

  private final LiveLogins logins =
      new LiveLogins(
          new Authentication() {
            @Override
            public boolean isRequired() {
              return !users.isEmpty();
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
              return users.get(spelled);
            }

            @Override
            public byte[] decoyKey() {
              return new byte[PasswordVerifier.SALT_BYTES];
            }
          });

  private void put(long number, @Nullable String closed) {
    users.put("JO", new Authentication.User("JO", List.of(), number, closed));
    logins.usersMayHaveChanged();
  }

  private LiveLogins.Watch connection(LoginProof login) {
    return logins.watchConnection(
        login, () -> hasSession, end -> ended.add("connection: " + end.why()));
  }

  private LiveLogins.Watch request(@Nullable LoginProof login) {
    return logins.watchRequest(login, end -> ended.add("request: " + end.why()));
  }

  @Test
  void userOfAnotherNumberEndsWhatGoesOn() {
    put(1, null);
    connection(JO);
    request(JO);
    put(1, null);
    assertEquals(List.of(), ended);
    put(2, null);
    assertEquals(2, ended.size(), ended.toString());
    assertTrue(ended.get(0).contains("no longer count: log in again"), ended.toString());
    put(3, null);
    assertEquals(2, ended.size(), "each is told once");
    assertEquals(0, logins.size());
  }

  @Test
  void droppedUserEndsWhatGoesOn() {
    put(1, null);
    users.put("MO", new Authentication.User("MO", List.of(), 2, null));
    connection(JO);
    request(JO);
    LiveLogins.Watch other = request(new LoginProof("MO", 2, LoginMethod.CERT, null));
    users.remove("JO");
    known = false;
    logins.usersMayHaveChanged();
    assertEquals(List.of(), ended, "a node that does not know its users ends nothing");
    known = true;
    logins.usersMayHaveChanged();
    assertEquals(2, ended.size(), ended.toString());
    assertTrue(ended.get(0).endsWith("user 'JO' was dropped"), ended.toString());
    assertEquals(1, logins.size());
    other.close();
    assertEquals(0, logins.size());
  }

  @Test
  @SuppressWarnings("try")
  void expiredUserEndsRequestsAndNoConnections() {
    put(1, null);
    try (LiveLogins.Watch connection = connection(JO)) {
      request(JO);
      put(1, "user JO has expired");
      assertEquals(List.of("request: user JO has expired"), ended);
    }
  }

  @Test
  void connectionWithAnOpenSessionGoesOn() {
    put(1, null);
    hasSession = true;
    connection(JO);
    put(2, null);
    assertEquals(List.of(), ended);
    hasSession = false;
    logins.usersMayHaveChanged();
    assertEquals(1, ended.size());
  }

  @Test
  void changeDuringTheLoginIsNotMissed() {
    put(2, null);
    connection(JO);
    assertEquals(1, ended.size());
  }

  @Test
  void firstUserEndsRequestsWithoutALogin() {
    request(null);
    assertEquals(List.of(), ended);
    put(1, null);
    assertEquals(List.of("request: the cluster has users now: log in"), ended);
  }

  @Test
  void loginEndsWithItsToken() {
    put(1, null);
    LoginProof brief = new LoginProof("JO", 1, LoginMethod.OIDC, Duration.ofMillis(20));
    connection(brief);
    request(brief).close();
    await().atMost(Duration.ofSeconds(30)).until(() -> !ended.isEmpty());
    assertEquals(1, ended.size());
    assertTrue(ended.get(0).contains("token of this login has expired"), ended.toString());
    assertEquals(0, logins.size());
  }
}
