package dev.tollgate.node.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Limits;
import dev.tollgate.node.client.PasswordLogin.Verdict;
import dev.tollgate.node.login.LoginMethods;
import dev.tollgate.node.login.TokenCheck;
import dev.tollgate.node.login.TokenSettings;
import dev.tollgate.tls.TestCertificates;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How many tokens may wait for the keys of an issuer. */
@Timeout(120)
class TokenLoginLimitsTest {
  /** Signed with RS256 and the key x, of which nothing is known. */
  private static final String TOKEN = "eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.e30.AAAA";

  @TempDir private Path directory;

  private static TokenLogin.Shown shown(int number, String address) {
    return new TokenLogin.Shown("", TOKEN + number, address, null, "BEARER");
  }

  @Test
  void oneAddressHasAShareAndAllHaveABound() throws Exception {
    TestCertificates certificates = new TestCertificates(directory);
    // takes connections, and says nothing
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        TokenCheck check =
            new TokenSettings(
                    "issuer",
                    "tollgate",
                    URI.create("https://127.0.0.1:" + silent.getLocalPort() + "/"),
                    certificates.trust(),
                    "sub",
                    null,
                    Duration.ZERO,
                    true)
                .open(Clock.systemUTC(), () -> 0, certificates.events)) {
      LoginRules rules =
          new LoginRules(false, PasswordRules.STANDARD, new LoginMethods(null, check));
      ClientAccess access =
          new ClientAccess(
              Authentication.NONE,
              (user, session) -> true,
              AuthenticationListener.NOBODY,
              () -> 0,
              rules);
      TokenLogin login = new TokenLogin(access, new LoginDelays(ClientLimits.STANDARD, () -> 0));
      List<CompletableFuture<TokenLogin.Decision>> answers = new ArrayList<>();
      for (int i = 0; i < Limits.TOKEN_CHECKS; i++) {
        String address = "a" + i / Limits.TOKEN_CHECKS_PER_ADDRESS;
        CompletableFuture<TokenLogin.Decision> answer = new CompletableFuture<>();
        login.check(shown(i, address), true, answer::complete);
        answers.add(answer);
        if (i == Limits.TOKEN_CHECKS_PER_ADDRESS - 1) {
          CompletableFuture<TokenLogin.Decision> more = new CompletableFuture<>();
          login.check(shown(-1, "a0"), true, more::complete);
          assertEquals(Verdict.BUSY, more.getNow(null).verdict());
        }
      }
      CompletableFuture<TokenLogin.Decision> more = new CompletableFuture<>();
      login.check(shown(-2, "another"), true, more::complete);
      assertEquals(Verdict.BUSY, more.getNow(null).verdict());
      assertFalse(answers.get(0).isDone(), "it waits for keys");
      for (CompletableFuture<TokenLogin.Decision> answer : answers) {
        assertTrue(answer.get(60, TimeUnit.SECONDS).why().contains("keys of the issuer"));
      }
      CompletableFuture<TokenLogin.Decision> later = new CompletableFuture<>();
      login.check(shown(-3, "a0"), true, later::complete);
      assertTrue(later.get(60, TimeUnit.SECONDS).why().contains("keys of the issuer"));
    }
  }
}
