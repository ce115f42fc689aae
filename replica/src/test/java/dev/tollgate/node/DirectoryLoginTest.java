package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.node.admin.HttpCalls;
import dev.tollgate.node.client.AuthenticationListener.Reason;
import dev.tollgate.node.login.DirectoryCheck;
import dev.tollgate.node.login.DirectorySettings;
import dev.tollgate.node.login.LoginMethods;
import dev.tollgate.node.login.LoginRuleFile;
import dev.tollgate.node.login.TestDirectory;
import dev.tollgate.node.login.WatchedFile;
import dev.tollgate.tls.TestCertificates;
import dev.tollgate.tls.TlsCredentials;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Logins by passwords that a directory checks, at the port for clients and over HTTP. */
@Timeout(180)
class DirectoryLoginTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final String RULES =
      """
      all root 127.0.0.1   scram
      all mo   127.0.0.0/8 scram
      all lo   127.0.0.1   reject
      all all  127.0.0.1   ldap
      """;

  @TempDir private Path files;
  private TestCertificates certificates;
  private TestDirectory directory;
  private @Nullable NodeWithLoginRules logins;

  @BeforeEach
  void start() throws Exception {
    certificates = new TestCertificates(files.resolve("ca"));
    certificates.node("n1");
    directory = new TestDirectory(certificates, files);
    directory.add("jo", "secret jo");
    directory.add("mo", "secret mo");
    directory.add("lo", "secret lo");
    directory.add("nobody", "secret nobody");
    directory.add("a,b", "secret a,b");
    Files.writeString(rules(), RULES);
    TlsCredentials.Listener log = NodeTls.logged("n1");
    DirectoryCheck check =
        new DirectorySettings(
                List.of(directory.secure()),
                certificates.trust(),
                new DirectorySettings.Named("uid=", "," + TestDirectory.PEOPLE))
            .open(System::nanoTime, log);
    logins =
        new NodeWithLoginRules(
            certificates,
            log,
            new LoginMethods(
                new WatchedFile<>("the rules of logins", rules(), LoginRuleFile::read, log),
                /* tokens= */ null,
                check));
    logins.administer(
        "CREATE USER JO",
        "CREATE USER LO",
        "CREATE USER \"A,B\"",
        "CREATE USER MO PASSWORD 'long enough'");
  }

  @AfterEach
  void stop() {
    if (logins != null) {
      logins.close();
    }
    directory.close();
  }

  private Path rules() {
    return files.resolve("rules");
  }

  private HttpCalls.Reply http(String authorization) throws Exception {
    return logins.http("GET", "/metrics", "", "Authorization", authorization);
  }

  private static final String PLAIN = "plainPassword=true&";

  private boolean isAsked(String user) {
    return directory.binds.stream().anyMatch(name -> name.startsWith("uid=" + user + ","));
  }

  @Test
  void passwordOfTheDirectoryIsALoginWhereARuleSaysSo() throws Exception {
    assertEquals("JO", logins.user(PLAIN + "user=jo&password=secret jo"));
    assertEquals("JO", logins.user(PLAIN + "user=JO&password=secret jo"));
    assertEquals("A,B", logins.user(PLAIN + "user=a%2Cb&password=secret a,b"));
    logins.assertRefused("in another way", PLAIN + "user=jo&password=secret mo");
    logins.assertRefused("in another way", PLAIN + "user=nobody&password=secret nobody");
    logins.assertRefused("in another way", PLAIN + "user=unknown&password=secret jo");
    assertTrue(logins.node().service().logins().refused(Reason.WRONG_PASSWORD) >= 1);
    assertTrue(logins.node().service().logins().refused(Reason.NO_SUCH_USER) >= 2);

    assertEquals(200, http(HttpCalls.basic("jo", "secret jo")).status());
    assertEquals(401, http(HttpCalls.basic("jo", "secret mo")).status());
    assertEquals(401, http(HttpCalls.basic("jo", "")).status());
    assertEquals(401, http(HttpCalls.basic("nobody", "secret nobody")).status());
  }

  @Test
  void directoryGetsThePasswordsOfItsUsersAlone() throws Exception {
    logins.assertRefused("in another way", PLAIN + "user=mo&password=secret mo");
    logins.assertRefused("in another way", PLAIN + "user=lo&password=secret lo");
    logins.assertRefused("in another way", PLAIN + "user=root&password=top secret");
    assertEquals("MO", logins.user("user=mo&password=long enough"));
    assertEquals(200, http(HttpCalls.basic("mo", "long enough")).status());
    assertEquals(401, http(HttpCalls.basic("mo", "secret mo")).status());
    assertEquals(401, http(HttpCalls.basic("lo", "secret lo")).status());
    assertEquals(List.of(), directory.binds);

    Files.writeString(rules(), "all root all scram\nall jo all scram\n");
    await()
        .atMost(DEADLINE)
        .untilAsserted(
            () -> logins.assertRefused("no password itself", PLAIN + "user=jo&password=secret jo"));
    assertFalse(isAsked("lo"));
  }

  @Test
  void driverSendsThePasswordIfToldSoAndToAVerifiedNode() {
    logins.assertRefused("plainPassword=true", "user=jo&password=secret jo");
    logins.assertRefused(
        "has not shown who it is", PLAIN + "sslMode=require&user=jo&password=secret jo");
    assertEquals(List.of(), directory.binds);
  }

  @Test
  void lockedAccountIsNoLogin() throws Exception {
    assertEquals(200, http(HttpCalls.basic("jo", "secret jo")).status());
    try (Connection root = logins.connect("user=root&password=top secret");
        Statement statement = root.createStatement()) {
      statement.execute("ALTER USER jo ACCOUNT LOCK");
      logins.assertRefused("locked", PLAIN + "user=jo&password=secret jo");
      logins.assertRefused("in another way", PLAIN + "user=jo&password=wrong");
      assertEquals(403, http(HttpCalls.basic("jo", "secret jo")).status());
      statement.execute("ALTER USER jo ACCOUNT UNLOCK");
      statement.execute("ALTER USER jo VALID UNTIL '2020-01-01'");
      logins.assertRefused("expired", PLAIN + "user=jo&password=secret jo");
    }
  }

  @Test
  void rightPasswordIsRememberedForHttpAlone() throws Exception {
    assertEquals(200, http(HttpCalls.basic("jo", "secret jo")).status());
    int asked = directory.binds.size();
    assertEquals(200, http(HttpCalls.basic("jo", "secret jo")).status());
    assertEquals(asked, directory.binds.size());
    directory.changePassword("jo", "changed");
    logins.assertRefused("in another way", PLAIN + "user=jo&password=secret jo");
    assertEquals("JO", logins.user(PLAIN + "user=jo&password=changed"));
    assertEquals(200, http(HttpCalls.basic("jo", "changed")).status());
  }

  @Test
  void directoryThatHangsIsInTheWayOfNoOtherLogin() throws Exception {
    directory.held = new CountDownLatch(1);
    List<CompletableFuture<Integer>> waiting = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      waiting.add(
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return http(HttpCalls.basic("jo", "secret jo")).status();
                } catch (Exception e) {
                  throw new IllegalStateException(e);
                }
              },
              work -> new Thread(work, "waits").start()));
    }
    await().atMost(DEADLINE).until(() -> isAsked("jo"));
    for (int i = 0; i < 3; i++) {
      assertEquals("ROOT", logins.user("user=root&password=top secret"));
      assertEquals("MO", logins.user("user=mo&password=long enough"));
      assertEquals(200, http(HttpCalls.basic("mo", "long enough")).status());
    }
    for (CompletableFuture<Integer> answer : waiting) {
      assertEquals(503, answer.get(30, TimeUnit.SECONDS));
    }
    SQLException unavailable =
        assertThrows(
            SQLException.class,
            () -> logins.user("failoverTimeout=1s&" + PLAIN + "user=jo&password=secret jo"));
    assertEquals("08001", unavailable.getSQLState(), unavailable.getMessage());
    directory.held.countDown();
    directory.held = null;
    assertEquals("JO", logins.user(PLAIN + "user=jo&password=secret jo"));
  }
}
