package dev.tollgate.node.login;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.unboundid.ldap.sdk.ResultCode;
import dev.tollgate.core.command.Limits;
import dev.tollgate.node.login.DirectoryCheck.Verdict;
import dev.tollgate.node.login.DirectorySettings.Named;
import dev.tollgate.node.login.DirectorySettings.Searched;
import dev.tollgate.tls.TestCertificates;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Passwords that a directory checks, at a directory on this host. */
@Timeout(120)
class DirectoryCheckTest {
  private static final Named NAMED = new Named("uid=", "," + TestDirectory.PEOPLE);

  @TempDir private Path files;
  private TestCertificates certificates;
  private TestDirectory directory;
  private final List<AutoCloseable> open = new ArrayList<>();

  @BeforeEach
  void start() throws Exception {
    certificates = new TestCertificates(files.resolve("ca"));
    directory = new TestDirectory(certificates, files);
    directory.add("jo", "secret jo");
    directory.add("mo", "secret mo");
    open.add(directory);
  }

  @AfterEach
  void stop() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
  }

  private DirectoryCheck check(DirectorySettings.Entries entries, URI... servers)
      throws IOException {
    return check(certificates.trust(), entries, servers);
  }

  private DirectoryCheck check(Path trust, DirectorySettings.Entries entries, URI... servers)
      throws IOException {
    DirectoryCheck check =
        new DirectorySettings(List.of(servers), trust, entries)
            .open(System::nanoTime, certificates.events);
    open.add(check);
    return check;
  }

  private Searched searched() throws IOException {
    Path password = files.resolve("password");
    Files.writeString(password, "find them\n");
    return new Searched("dc=example,dc=org", "uid", null, TestDirectory.SEARCHER, password);
  }

  private static CompletableFuture<Verdict> ask(DirectoryCheck check, String user, String text) {
    CompletableFuture<Verdict> answer = new CompletableFuture<>();
    check.check(user, text, answer::complete);
    return answer;
  }

  private static Verdict verdict(DirectoryCheck check, String user, String text) throws Exception {
    return ask(check, user, text).get(30, TimeUnit.SECONDS);
  }

  private void assertChecks(DirectoryCheck check) throws Exception {
    assertEquals(Verdict.RIGHT, verdict(check, "JO", "secret jo"));
    assertEquals(Verdict.RIGHT, verdict(check, "MO", "secret mo"));
    assertEquals(Verdict.WRONG, verdict(check, "JO", "secret mo"));
    assertEquals(Verdict.WRONG, verdict(check, "LO", "secret jo"));
    assertEquals(Verdict.WRONG, verdict(check, "*", "secret jo"));
    assertEquals(Verdict.WRONG, verdict(check, "J*", "secret jo"));
    assertEquals(List.of(), certificates.events.failed);
  }

  private void assertUnavailable(String why, DirectoryCheck check) throws Exception {
    assertEquals(Verdict.UNAVAILABLE, verdict(check, "JO", "secret jo"));
    assertTrue(
        certificates.events.failed.stream().anyMatch(line -> line.contains(why)),
        certificates.events.failed.toString());
    assertEquals(List.of(), directory.binds);
  }

  @Test
  void nameIsMadeOfThatOfTheUser() throws Exception {
    assertChecks(check(NAMED, directory.secure()));
    assertEquals("uid=jo," + TestDirectory.PEOPLE, directory.binds.get(0));
    assertChecks(check(NAMED, directory.startsTls()));
  }

  @Test
  void entryIsSearched() throws Exception {
    assertChecks(check(searched(), directory.secure()));
    assertChecks(check(searched(), directory.startsTls()));
    Searched filter =
        new Searched(
            TestDirectory.PEOPLE, null, "(&(objectClass=account)(uid=$username))", null, null);
    assertChecks(check(filter, directory.secure()));
  }

  @Test
  void charactersOfANameAreNoSyntax() throws Exception {
    List<String> names =
        List.of("a,b", "a=b", "a+b", "#a", "a\\b", "a\"b", "<a>", "a;b", "a)(b", "\u00e4");
    for (String name : names) {
      directory.add(name, "password of " + name);
    }
    Searched filter = new Searched(TestDirectory.PEOPLE, null, "(uid=$username)", null, null);
    for (DirectorySettings.Entries entries : List.of(NAMED, searched(), filter)) {
      DirectoryCheck check = check(entries, directory.secure());
      for (String name : names) {
        String user = name.toUpperCase(Locale.ROOT);
        assertEquals(Verdict.RIGHT, verdict(check, user, "password of " + name), name);
        assertEquals(Verdict.WRONG, verdict(check, user, "secret jo"), name);
      }
      assertEquals(Verdict.WRONG, verdict(check, "JO,OU=PEOPLE,DC=EXAMPLE,DC=ORG", "secret jo"));
      assertEquals(Verdict.WRONG, verdict(check, "X)(UID=JO", "secret jo"));
    }
    assertEquals(List.of(), certificates.events.failed);
  }

  @Test
  void nameThatIsNoDnIsMadeOfPlainNamesAlone() throws Exception {
    DirectoryCheck check = check(new Named("", "@example.org"), directory.secure());
    assertEquals(Verdict.WRONG, verdict(check, "JO@OTHER.ORG\\", "secret jo"));
    assertEquals(List.of(), directory.binds);
    // this directory takes DNs alone
    assertEquals(Verdict.WRONG, verdict(check, "JO", "secret jo"));
    assertEquals(List.of("jo@example.org"), directory.binds);
  }

  /** RFC 4513, 5.1.2: the directory would say yes. */
  @Test
  void emptyPasswordReachesNoDirectory() throws Exception {
    for (DirectorySettings.Entries entries : List.of(NAMED, searched())) {
      DirectoryCheck check = check(entries, directory.secure());
      assertEquals(Verdict.WRONG, verdict(check, "JO", ""));
      assertEquals(Verdict.WRONG, verdict(check, "JO", "\0"));
      assertEquals(Verdict.WRONG, verdict(check, "JO", "\0secret jo"));
    }
    assertEquals(List.of(), directory.binds);
  }

  @Test
  void entryOfAnotherNameIsNotTheUsers() throws Exception {
    // a directory that compares less exactly than was asked for
    Searched any =
        new Searched("dc=example,dc=org", null, "(|(uid=$username)(uid=jo))", null, null);
    DirectoryCheck check = check(any, directory.secure());
    assertEquals(Verdict.WRONG, verdict(check, "MO", "secret mo"));
    assertTrue(
        certificates.events.failed.toString().contains("more than one entry"),
        certificates.events.failed.toString());
    assertEquals(
        Verdict.WRONG, verdict(check(searched(), directory.secure()), "J  O", "secret jo"));
  }

  @Test
  void serverThatDoesNotShowWhoItIsGetsNoPassword() throws Exception {
    TestCertificates others = new TestCertificates(files.resolve("others"));
    assertUnavailable(
        "PKIX path building failed", check(others.trust(), NAMED, directory.secure()));
  }

  @Test
  void serverThatStartsTlsWithAnotherCaGetsNoPassword() throws Exception {
    TestCertificates others = new TestCertificates(files.resolve("others"));
    assertUnavailable(
        "PKIX path building failed", check(others.trust(), NAMED, directory.startsTls()));
  }

  @Test
  void serverWithAnotherNameGetsNoPassword() throws Exception {
    try (TestDirectory other = new TestDirectory(certificates, files, "ldap.example.org")) {
      other.add("jo", "secret jo");
      // the library alone would take any certificate of an address of this host
      assertUnavailable("No subject alternative", check(NAMED, other.secure()));
      certificates.events.failed.clear();
      assertUnavailable("No subject alternative", check(NAMED, other.secure("localhost")));
      certificates.events.failed.clear();
      assertUnavailable("No subject alternative", check(NAMED, other.startsTls()));
      assertEquals(List.of(), other.binds);
    }
  }

  @Test
  void serverWithoutTlsGetsNoPassword() throws Exception {
    assertUnavailable("", check(NAMED, directory.bare()));
    assertUnavailable("", check(searched(), directory.bare()));
  }

  @Test
  void referralIsNotFollowed() throws Exception {
    directory.answer = ResultCode.REFERRAL;
    DirectoryCheck check = check(NAMED, directory.secure());
    assertEquals(Verdict.WRONG, verdict(check, "JO", "secret jo"));
    assertEquals(1, directory.binds.size());
    assertTrue(certificates.events.failed.get(0).contains("follows no referral"));
  }

  @Test
  void whatIsWrongWithTheDirectoryIsNoWrongPassword() throws Exception {
    for (ResultCode code : List.of(ResultCode.BUSY, ResultCode.OTHER, ResultCode.UNAVAILABLE)) {
      directory.answer = code;
      assertEquals(
          Verdict.UNAVAILABLE, verdict(check(NAMED, directory.secure()), "JO", "secret jo"));
    }
    directory.answer = ResultCode.UNWILLING_TO_PERFORM;
    assertEquals(Verdict.WRONG, verdict(check(NAMED, directory.secure()), "JO", "secret jo"));
    directory.answer = ResultCode.INVALID_CREDENTIALS;
    assertEquals(
        Verdict.UNAVAILABLE, verdict(check(searched(), directory.secure()), "JO", "secret jo"));
  }

  @Test
  void nextServerIsAskedWhenOneCannotAnswer() throws Exception {
    DirectoryCheck check;
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      URI dead = URI.create("ldaps://127.0.0.1:1");
      URI mute = URI.create("ldaps://127.0.0.1:" + silent.getLocalPort());
      check = check(NAMED, dead, mute, directory.secure());
      assertEquals(Verdict.RIGHT, verdict(check, "JO", "secret jo"));
    }
    assertEquals(Verdict.WRONG, verdict(check, "JO", "wrong"));
    assertEquals(2, directory.binds.size());
  }

  @Test
  void checkEndsInTimeWhateverTheDirectoryDoes() throws Exception {
    directory.held = new CountDownLatch(1);
    try (ServerSocket silent = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
        ServerSocket dripping = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Thread drip = new Thread(() -> drip(dripping), "drip");
      drip.setDaemon(true);
      drip.start();
      List<CompletableFuture<Verdict>> answers = new ArrayList<>();
      for (URI server :
          List.of(
              directory.secure(),
              directory.startsTls(),
              URI.create("ldaps://127.0.0.1:" + silent.getLocalPort()),
              URI.create("ldap://127.0.0.1:" + silent.getLocalPort()),
              URI.create("ldaps://127.0.0.1:" + dripping.getLocalPort()))) {
        answers.add(ask(check(NAMED, server), "JO", "secret jo"));
      }
      for (CompletableFuture<Verdict> answer : answers) {
        assertEquals(
            Verdict.UNAVAILABLE,
            answer.get(DirectoryCheck.WITHIN.toMillis() + 2_000, TimeUnit.MILLISECONDS));
      }
      // and gives its thread back
      DirectoryCheck check = check(NAMED, URI.create("ldaps://127.0.0.1:" + silent.getLocalPort()));
      for (int round = 0; round < 2; round++) {
        List<CompletableFuture<Verdict>> all = new ArrayList<>();
        for (int i = 0; i < Limits.DIRECTORY_CHECKS; i++) {
          all.add(ask(check, "JO", "secret jo"));
        }
        assertTrue(ask(check, "JO", "secret jo").isDone(), "none waits for a thread");
        for (CompletableFuture<Verdict> answer : all) {
          answer.get(30, TimeUnit.SECONDS);
        }
      }
    }
  }

  /** Begins a record of TLS, and goes on with it without an end. */
  private static void drip(ServerSocket server) {
    try (Socket client = server.accept()) {
      client.getOutputStream().write(new byte[] {22, 3, 3, 0x3f, 0});
      while (true) {
        client.getOutputStream().write(0);
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
      }
    } catch (IOException e) {
      // the client is gone, or the test is over
    }
  }

  @Test
  void changedFilesAreReadAgain() throws Exception {
    TestCertificates others = new TestCertificates(files.resolve("others"));
    Path trust = files.resolve("trust");
    Files.copy(others.trust(), trust);
    Searched searched = searched();
    Files.writeString(searched.passwordFile(), "another\n");
    DirectoryCheck check = check(trust, searched, directory.secure());
    assertEquals(Verdict.UNAVAILABLE, verdict(check, "JO", "secret jo"));
    TestCertificates.replace(trust, Files.readString(certificates.trust()));
    check.refresh();
    assertEquals(Verdict.UNAVAILABLE, verdict(check, "JO", "secret jo"));
    TestCertificates.replace(searched.passwordFile(), "find them");
    check.refresh();
    assertEquals(Verdict.RIGHT, verdict(check, "JO", "secret jo"));
  }

  private void assertNoSense(String why, DirectorySettings.Entries entries) {
    Exception e = assertThrows(IOException.class, () -> check(entries, directory.secure()));
    assertTrue(e.getMessage().contains(why), e.getMessage());
  }

  @Test
  void settingsWithoutSenseAreRefused() {
    assertNoSense("no attribute", new Searched("dc=org", "a=b", null, null, null));
    assertNoSense("every user alike", new Searched("dc=org", null, "(uid=jo)", null, null));
    assertNoSense("make no sense", new Searched("dc=org", null, "(uid=$username", null, null));
    assertNoSense("make no sense", new Searched("org", "uid", null, null, null));
    assertNoSense("to begin at", new Searched("", "uid", null, null, null));
    assertNoSense(
        "does-not-exist",
        new Searched("dc=org", "uid", null, "cn=x", files.resolve("does-not-exist")));
    assertNoSense("begins with a comma", new Named("uid=", "ou=people"));
    assertNoSense("attribute and =", new Named("ou=x,uid=", ",ou=people"));
    assertNoSense("which entry", new Named("", ""));
    for (String url : List.of("http://x", "ldaps:///", "ldap://x/dc=org", "ldaps://x?y", "x")) {
      assertThrows(
          IllegalArgumentException.class,
          () -> new DirectorySettings(List.of(URI.create(url)), null, NAMED),
          url);
    }
  }
}
