package dev.tollgate.node.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Limits;
import dev.tollgate.node.client.AuthenticationListener.Attempt;
import dev.tollgate.node.client.AuthenticationListener.Reason;
import dev.tollgate.node.client.PasswordLogin.Verdict;
import dev.tollgate.node.login.DirectoryCheck;
import dev.tollgate.node.login.DirectorySettings;
import dev.tollgate.node.login.LoginMethods;
import dev.tollgate.node.login.LoginRuleFile;
import dev.tollgate.node.login.TestDirectory;
import dev.tollgate.node.login.WatchedFile;
import dev.tollgate.tls.TestCertificates;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How many passwords a directory checks at a time, and what failures count for. */
@Timeout(120)
class DirectoryLoginLimitsTest {
  @TempDir private Path files;
  private final List<String> told = Collections.synchronizedList(new ArrayList<>());
  private TestDirectory directory;
  private DirectoryCheck check;
  private LoginDelays delays;
  private DirectoryLogin login;

  private final class Listener implements AuthenticationListener {
    @Override
    public void loggedIn(Attempt attempt) {
      told.add(attempt.user() + " " + attempt.mechanism());
    }

    @Override
    public void refused(Attempt attempt, Reason reason) {
      told.add(attempt.user() + " " + attempt.mechanism() + " " + reason);
    }
  }

  @BeforeEach
  void start() throws Exception {
    TestCertificates certificates = new TestCertificates(files.resolve("ca"));
    directory = new TestDirectory(certificates, files);
    directory.add("jo", "secret");
    check =
        new DirectorySettings(
                List.of(directory.secure()),
                certificates.trust(),
                new DirectorySettings.Named("uid=", "," + TestDirectory.PEOPLE))
            .open(System::nanoTime, certificates.events);
    Path rules = files.resolve("rules");
    Files.writeString(rules, "all mo all scram\nall all all ldap\n");
    ClientAccess access =
        new ClientAccess(
            new EveryName(),
            (user, session) -> true,
            new Listener(),
            () -> 0,
            new LoginRules(
                false,
                PasswordRules.STANDARD,
                new LoginMethods(
                    new WatchedFile<>("rules", rules, LoginRuleFile::read, certificates.events),
                    null,
                    check)));
    delays = new LoginDelays(ClientLimits.STANDARD, () -> 0);
    login = new DirectoryLogin(access, delays);
  }

  @AfterEach
  void stop() {
    directory.close();
    check.close();
  }

  private CompletableFuture<Verdict> check(String user, String password, String address) {
    CompletableFuture<Verdict> answer = new CompletableFuture<>();
    login.check(
        new DirectoryLogin.Shown(user, password, address, InetAddress.getLoopbackAddress()),
        decision -> answer.complete(decision.verdict()));
    return answer;
  }

  private Verdict verdict(String user, String password, String address) throws Exception {
    return check(user, password, address).get(30, TimeUnit.SECONDS);
  }

  @Test
  void userAndAddressHaveAShareAndAllHaveABound() throws Exception {
    directory.held = new CountDownLatch(1);
    List<CompletableFuture<Verdict>> waiting = new ArrayList<>();
    for (int i = 0; i < Limits.DIRECTORY_CHECKS; i++) {
      String address = "a" + i / Limits.DIRECTORY_CHECKS_PER_ADDRESS;
      String user = "U" + i / Limits.DIRECTORY_CHECKS_PER_USER;
      waiting.add(check(user, "secret", address));
      if (i == Limits.DIRECTORY_CHECKS_PER_USER - 1) {
        assertEquals(Verdict.BUSY, check(user, "secret", address).getNow(null));
      }
      if (i == Limits.DIRECTORY_CHECKS_PER_ADDRESS - 1) {
        assertEquals(Verdict.BUSY, check("JO", "secret", address).getNow(null));
      }
    }
    assertEquals(Verdict.BUSY, check("JO", "secret", "another").getNow(null));
    assertFalse(waiting.get(0).isDone());
    directory.held.countDown();
    directory.held = null;
    for (CompletableFuture<Verdict> answer : waiting) {
      answer.get(30, TimeUnit.SECONDS);
    }
    assertEquals(Verdict.RIGHT, verdict("JO", "secret", "a0"));
  }

  @Test
  void failuresDelayAsThoseOfPasswordsOfTheCluster() throws Exception {
    for (int i = 0; i <= LoginDelays.FREE_FAILURES; i++) {
      assertEquals(Duration.ZERO, delays.enter("JO", "a"));
      assertEquals(Verdict.WRONG, verdict("JO", i == 0 ? "" : "guess " + i, "a"));
    }
    assertTrue(delays.enter("JO", "a").compareTo(Duration.ZERO) > 0);
    assertEquals(Duration.ZERO, delays.enter("JO", "b"));
    assertEquals(Verdict.RIGHT, verdict("JO", "secret", "a"));
    assertEquals(Duration.ZERO, delays.enter("JO", "a"));
  }

  @Test
  void directoryThatCannotAnswerIsNoFailure() throws Exception {
    directory.close();
    for (int i = 0; i <= LoginDelays.FREE_FAILURES; i++) {
      assertEquals(Verdict.BUSY, verdict("JO", "secret", "a"));
    }
    assertEquals(Duration.ZERO, delays.enter("JO", "a"));
    assertEquals(List.of(), told);
  }

  @Test
  void auditorsAreToldWhatCheckedThePassword() throws Exception {
    assertEquals(Verdict.RIGHT, verdict("JO", "secret", "a"));
    assertEquals(Verdict.WRONG, verdict("JO", "guess", "a"));
    assertEquals(Verdict.WRONG, verdict("MO", "secret", "a"));
    assertEquals(List.of("JO LDAP", "JO LDAP WRONG_PASSWORD", "MO LDAP NOT_ALLOWED"), told);
    assertFalse(new DirectoryLogin.Shown("JO", "secret", "a", null).toString().contains("secret"));
  }
}
