package dev.tollgate.node.client;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Limits;
import dev.tollgate.log.CountedAddress;
import dev.tollgate.node.client.PasswordLogin.Verdict;
import dev.tollgate.node.login.LoginMethods;
import dev.tollgate.node.login.TestIssuer;
import dev.tollgate.node.login.TokenCheck;
import dev.tollgate.node.login.TokenSettings;
import dev.tollgate.tls.TestCertificates;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How many tokens are checked and wait for keys, and that the ones do not need the others. */
@Timeout(120)
class TokenLoginLimitsTest {
  /** Longer than tokens wait to ask for keys again. */
  private static final Duration LATER = Duration.ofMinutes(2);

  @TempDir private Path directory;
  private final AtomicLong nanos = new AtomicLong();
  private final List<CountDownLatch> held = new ArrayList<>();
  private TestIssuer issuer;
  private TokenCheck check;
  private ClientAccess access;
  private LoginDelays delays;
  private TokenLogin login;
  private int tokens;

  @BeforeEach
  void start() throws Exception {
    TestCertificates certificates = new TestCertificates(directory.resolve("ca"));
    issuer = new TestIssuer(certificates, directory);
    check =
        new TokenSettings(
                TestIssuer.NAME,
                "tollgate",
                issuer.address(),
                certificates.trust(),
                "sub",
                null,
                Duration.ZERO,
                true)
            .open(Clock.systemUTC(), nanos::get, certificates.events);
    access =
        new ClientAccess(
            new EveryName(),
            (user, session) -> true,
            AuthenticationListener.NOBODY,
            nanos::get,
            new LoginRules(false, PasswordRules.STANDARD, new LoginMethods(null, check)));
    delays = new LoginDelays(ClientLimits.STANDARD, nanos::get);
    login = new TokenLogin(access, delays);
    assertEquals(Verdict.RIGHT, check("first", token()).get(60, TimeUnit.SECONDS).verdict());
  }

  @AfterEach
  void stop() {
    held.forEach(CountDownLatch::countDown);
    check.close();
    issuer.close();
  }

  /** A token of its own. */
  private String token() throws Exception {
    return issuer.token("jo", Instant.now().plusSeconds(600 + tokens++));
  }

  private CompletableFuture<TokenLogin.Decision> check(String address, String token) {
    CompletableFuture<TokenLogin.Decision> answer = new CompletableFuture<>();
    login.check(
        new TokenLogin.Shown("", token, address, InetAddress.getLoopbackAddress(), "BEARER"),
        /* mayWait= */ true,
        /* told= */ true,
        answer::complete);
    return answer;
  }

  private static void assertBusy(CompletableFuture<TokenLogin.Decision> answer) throws Exception {
    TokenLogin.Decision decision = answer.get(30, TimeUnit.SECONDS);
    assertEquals(Verdict.BUSY, decision.verdict());
    assertTrue(decision.why().contains("try again"), decision.why());
  }

  private void assertRight(String address, String token) throws Exception {
    assertEquals(Verdict.RIGHT, check(address, token).get(30, TimeUnit.SECONDS).verdict());
  }

  @Test
  void tokensThatWaitForKeysAreNotInTheWayOfThoseThatDoNot() throws Exception {
    List<String> known = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      known.add(token());
    }
    issuer.hang();
    issuer.changeKey("k2");
    nanos.addAndGet(LATER.toNanos());
    List<CompletableFuture<TokenLogin.Decision>> waiting = new ArrayList<>();
    for (int i = 0; i < Limits.TOKENS_AWAITING_KEYS; i++) {
      waiting.add(check("a" + i / Limits.TOKENS_AWAITING_KEYS_PER_ADDRESS, token()));
      await()
          .pollDelay(Duration.ZERO)
          .pollInterval(Duration.ofMillis(1))
          .atMost(Duration.ofSeconds(60))
          .until(() -> login.waiting() == waiting.size());
      if (i == Limits.TOKENS_AWAITING_KEYS_PER_ADDRESS - 1) {
        // as many again as an address may have checked
        for (int more = 0; more <= Limits.TOKEN_CHECKS_PER_ADDRESS; more++) {
          assertBusy(check("a0", token()));
        }
        assertRight("a0", known.remove(0));
      }
    }
    assertBusy(check("another", token()));
    assertRight("a0", known.remove(0));
    assertRight("another", known.remove(0));
    assertEquals(2, issuer.requests(), "one fetch is under way");
    for (CompletableFuture<TokenLogin.Decision> answer : waiting) {
      assertFalse(answer.isDone(), "it waits for keys");
    }
    issuer.answer();
    for (CompletableFuture<TokenLogin.Decision> answer : waiting) {
      assertEquals(Verdict.RIGHT, answer.get(60, TimeUnit.SECONDS).verdict());
    }
    assertRight("a0", token());
  }

  /** As connections do over HTTP: each of them would hold a place for as long as it waits. */
  @Test
  void loginsThatWaitAfterFailuresHoldNoPlaces() throws Exception {
    InetAddress here = InetAddress.getLoopbackAddress();
    for (int i = 0; i < LoginDelays.FREE_OF_ADDRESS + 10; i++) {
      delays.failed("user " + i, CountedAddress.of(here));
    }
    PasswordLogin passwords = new PasswordLogin(access, delays);
    for (int i = 0; i <= Limits.TOKEN_CHECKS_PER_ADDRESS; i++) {
      PasswordLogin.Result later = passwords.byToken(token(), here, /* waited= */ false);
      assertEquals(Verdict.LATER, later.verdict());
      assertTrue(later.retryAfter().compareTo(LoginDelays.LONGEST_HELD) <= 0);
    }
    String token = token();
    assertEquals(Verdict.RIGHT, passwords.byToken(token, here, /* waited= */ true).verdict());
    issuer.hang();
    issuer.changeKey("k2");
    nanos.addAndGet(LATER.toNanos());
    PasswordLogin.Result busy = passwords.byToken(token(), here, /* waited= */ true);
    assertEquals(Verdict.BUSY, busy.verdict());
    assertTrue(busy.why().contains("fetches keys: try again"), busy.why());
  }

  @Test
  void oneAddressHasAShareOfTheChecksAndAllHaveABound() throws Exception {
    // each thread that checks tokens stands still
    CountDownLatch goOn = new CountDownLatch(1);
    CountDownLatch stopped = new CountDownLatch(2);
    held.add(goOn);
    for (int i = 0; i < 2; i++) {
      login.check(
          new TokenLogin.Shown("", token(), "b" + i, null, "BEARER"),
          /* mayWait= */ true,
          /* told= */ true,
          decision -> {
            stopped.countDown();
            await().atMost(Duration.ofSeconds(90)).until(() -> goOn.getCount() == 0);
          });
    }
    assertTrue(stopped.await(30, TimeUnit.SECONDS));
    List<CompletableFuture<TokenLogin.Decision>> answers = new ArrayList<>();
    for (int i = 0; i < Limits.TOKEN_CHECKS; i++) {
      answers.add(check("a" + i / Limits.TOKEN_CHECKS_PER_ADDRESS, token()));
      if (i == Limits.TOKEN_CHECKS_PER_ADDRESS - 1) {
        assertBusy(check("a0", token()));
      }
    }
    assertBusy(check("another", token()));
    goOn.countDown();
    for (CompletableFuture<TokenLogin.Decision> answer : answers) {
      assertEquals(Verdict.RIGHT, answer.get(60, TimeUnit.SECONDS).verdict());
    }
    assertRight("a0", token());
  }
}
