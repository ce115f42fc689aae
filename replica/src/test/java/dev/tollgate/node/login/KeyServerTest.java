package dev.tollgate.node.login;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Limits;
import dev.tollgate.tls.TestCertificates;
import dev.tollgate.tls.TlsCredentials;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** When the keys of an issuer are fetched, and for how long they count. */
@Timeout(120)
class KeyServerTest {
  @TempDir private Path directory;
  private final AtomicLong nanos = new AtomicLong();
  private TestCertificates certificates;
  private TestIssuer issuer;
  private TokenCheck check;

  @BeforeEach
  void start() throws Exception {
    certificates = new TestCertificates(directory.resolve("ca"));
    issuer = new TestIssuer(certificates, directory);
    check = open(certificates.trust());
  }

  @AfterEach
  void stop() {
    check.close();
    issuer.close();
  }

  private TokenCheck open(@Nullable Path trust) throws Exception {
    return TokenCheck.of(
        new TokenSettings(
            TestIssuer.NAME, "tollgate", issuer.address(), trust, "sub", null, Duration.ZERO, true),
        Clock.systemUTC(),
        nanos::get,
        certificates.events);
  }

  private TokenCheck.Verdict verdict() throws Exception {
    CompletableFuture<TokenCheck.Verdict> answer = new CompletableFuture<>();
    check.check(issuer.token("jo", Instant.now().plusSeconds(600)), () -> true, answer::complete);
    return answer.get(30, TimeUnit.SECONDS);
  }

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  @Test
  void firstTokenHasTheKeysFetchedAndLaterOnesDoNot() throws Exception {
    assertEquals("JO", verdict().user());
    assertEquals("JO", verdict().user());
    pass(KeyServer.FETCHED_EVERY);
    check.refresh();
    assertEquals(1, issuer.requests.get());
  }

  @Test
  void unknownKeyHasThemFetchedOnceAMinute() throws Exception {
    assertEquals("JO", verdict().user());
    issuer.changeKey("k2");
    assertNotNull(verdict().refusal(), "the keys are fresh");
    assertNotNull(verdict().refusal());
    assertEquals(1, issuer.requests.get());
    pass(KeyServer.ASKED_EVERY.plusMillis(1));
    assertEquals("JO", verdict().user());
    assertEquals(2, issuer.requests.get());
  }

  @Test
  void formerKeysCountForAnHourAfterTheirServerHasFailed() throws Exception {
    assertEquals("JO", verdict().user());
    issuer.status = 500;
    pass(KeyServer.KEPT);
    assertEquals("JO", verdict().user());
    pass(Duration.ofMillis(1));
    TokenCheck.Verdict closed = verdict();
    assertNull(closed.user());
    assertTrue(closed.temporary());
    assertEquals(1, certificates.events.failed.size(), certificates.events.failed.toString());
    issuer.status = 200;
    pass(KeyServer.ASKED_EVERY.plusMillis(1));
    assertEquals("JO", verdict().user());
  }

  @Test
  void answersThatAreNoKeysCountForNothing() throws Exception {
    issuer.keys = " ".repeat(Limits.TOKEN_KEYS_BYTES + 1);
    assertTrue(verdict().temporary());
    pass(KeyServer.ASKED_EVERY.plusMillis(1));
    issuer.keys = "{\"keys\":[]}";
    assertTrue(verdict().temporary());
    pass(KeyServer.ASKED_EVERY.plusMillis(1));
    issuer.status = 302;
    assertTrue(verdict().temporary());
    assertEquals(3, issuer.requests.get());
  }

  /** Each byte comes in time, and the head of the answer never ends. */
  @Test
  void fetchThatTakesTooLongIsGivenUp() throws Exception {
    check.close();
    try (TestIssuer.Drip drip = issuer.drip()) {
      check =
          TokenCheck.of(
              new TokenSettings(
                  TestIssuer.NAME,
                  "tollgate",
                  drip.address(),
                  certificates.trust(),
                  "sub",
                  null,
                  Duration.ZERO,
                  true),
              Clock.systemUTC(),
              nanos::get,
              certificates.events);
      CompletableFuture<TokenCheck.Verdict> answer = new CompletableFuture<>();
      check.check(issuer.token("jo", Instant.now().plusSeconds(600)), () -> true, answer::complete);
      assertTrue(drip.begun().await(30, TimeUnit.SECONDS));
      check.refresh();
      assertFalse(answer.isDone());
      pass(KeyServer.LONGEST_FETCH.plusMillis(1));
      check.refresh();
      assertTrue(answer.get(30, TimeUnit.SECONDS).temporary());
    }
  }

  /** The connection may be where nothing ends it, such as in a look-up of its host. */
  @Test
  void fetchThatHangsHoldsUpNoTokenWithAKnownKey() throws Exception {
    assertEquals("JO", verdict().user());
    String known = issuer.token("jo", Instant.now().plusSeconds(600));
    issuer.hang();
    issuer.changeKey("k2");
    pass(KeyServer.ASKED_EVERY.plusMillis(1));
    List<CompletableFuture<TokenCheck.Verdict>> waiting = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      CompletableFuture<TokenCheck.Verdict> answer = new CompletableFuture<>();
      check.check(
          issuer.token("jo", Instant.now().plusSeconds(600 + i)), () -> true, answer::complete);
      waiting.add(answer);
    }
    CompletableFuture<TokenCheck.Verdict> impatient = new CompletableFuture<>();
    check.check(
        issuer.token("jo", Instant.now().plusSeconds(700)), () -> false, impatient::complete);
    TokenCheck.Verdict refused = impatient.get(30, TimeUnit.SECONDS);
    assertTrue(refused.temporary(), "" + refused.refusal());
    CompletableFuture<TokenCheck.Verdict> answer = new CompletableFuture<>();
    check.check(known, () -> false, answer::complete);
    assertEquals("JO", answer.get(30, TimeUnit.SECONDS).user());
    assertEquals(2, issuer.requests.get(), "one fetch is under way");
    pass(KeyServer.LONGEST_FETCH.plusMillis(1));
    check.refresh();
    for (CompletableFuture<TokenCheck.Verdict> late : waiting) {
      assertTrue(late.get(30, TimeUnit.SECONDS).temporary(), "nobody knows the key yet");
    }
  }

  @Test
  void serverWithAnotherCaIsNotBelieved() throws Exception {
    check.close();
    check = open(/* trust= */ null);
    assertTrue(verdict().temporary());
    assertEquals(0, issuer.requests.get());
  }

  /** Also one that is no exception, wherever it comes from. */
  @Test
  void fetchThatBreaksOffIsFollowedByALaterOne() throws Exception {
    for (String where : List.of("fetch", "listener")) {
      List<Throwable> thrown = Collections.synchronizedList(new ArrayList<>());
      AtomicBoolean breaking = new AtomicBoolean(true);
      Thread.UncaughtExceptionHandler handler = (thread, e) -> thrown.add(e);
      ThreadFactory threads =
          work -> {
            Thread thread = new Thread(work, "fetches");
            thread.setUncaughtExceptionHandler(handler);
            thread.setDaemon(true);
            return thread;
          };
      LongSupplier clock =
          () -> {
            boolean fetches = Thread.currentThread().getName().equals("fetches");
            if (breaking.get() && fetches && where.equals("fetch")) {
              throw new AssertionError("on purpose");
            }
            return nanos.get();
          };
      TlsCredentials.Listener listener =
          new TlsCredentials.Listener() {
            @Override
            public void reloaded(String what) {}

            @Override
            public void warned(String what) {}

            @Override
            public void failed(String why) {
              if (where.equals("listener")) {
                throw new IllegalStateException("on purpose");
              }
            }
          };
      issuer.status = where.equals("listener") ? 500 : 200;
      try (KeyServer server =
          new KeyServer(issuer.address(), certificates.trust(), clock, listener, threads)) {
        assertFalse(server.again().get(30, TimeUnit.SECONDS), where);
        assertNull(server.current(), where);
        breaking.set(false);
        issuer.status = 200;
        pass(KeyServer.ASKED_EVERY.plusMillis(1));
        assertTrue(server.again().get(30, TimeUnit.SECONDS), where);
        assertNotNull(server.current(), where);
        assertEquals(1, thrown.size(), where + thrown);
      }
    }
  }
}
