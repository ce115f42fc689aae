package dev.tollgate.node.login;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Limits;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which line of a file of rules decides, and which files are refused. */
class LoginRuleFileTest {
  private static final String RULES =
      """
      # database user address method

      all  admin   127.0.0.1        scram
      all  admin   all              reject   # nobody works as administrator from elsewhere
      all  "billing" 10.1.0.0/16    cert
      all  all     10.0.0.0/8       oidc
      all  all     2001:db8::/32    scram
      all  all     172.16.0.0/12    scram
      all  mo      all              oidc
      """;

  private static LoginRuleFile read(String text) throws IOException {
    return LoginRuleFile.parse(text.getBytes(StandardCharsets.UTF_8));
  }

  private static @Nullable InetAddress address(String text) throws IOException {
    return text.equals("-") ? null : InetAddress.getByName(text);
  }

  @ParameterizedTest
  @CsvSource({
    "ADMIN, 127.0.0.1, SCRAM",
    "ADMIN, 127.0.0.2, REJECT",
    "ADMIN, 10.1.2.3, REJECT",
    "ADMIN, -, REJECT",
    "BILLING, 10.1.255.255, CERT",
    "BILLING, 10.2.0.0, OIDC",
    "BILLING, 172.31.255.255, SCRAM",
    "BILLING, 172.32.0.0, REJECT",
    "BILLING, 172.15.255.255, REJECT",
    "BILLING, 11.0.0.0, REJECT",
    "BILLING, 9.255.255.255, REJECT",
    "JO, 2001:db8:ffff::1, SCRAM",
    "JO, 2001:db9::1, REJECT",
    "JO, ::ffff:10.9.9.9, OIDC",
    "JO, -, REJECT",
    "MO, 192.168.0.1, OIDC",
    "MO, -, OIDC",
  })
  void firstLineThatFitsDecides(String user, String from, LoginMethod method) throws IOException {
    assertEquals(method, read(RULES).method(user, address(from)));
  }

  @Test
  void methodsOfAnAddressAreThoseOfItsLines() throws IOException {
    LoginRuleFile rules = read(RULES);
    assertEquals(Set.of(LoginMethod.OIDC), rules.methods(address("10.9.9.9")));
    assertEquals(Set.of(LoginMethod.OIDC, LoginMethod.CERT), rules.methods(address("10.1.0.1")));
    assertEquals(Set.of(LoginMethod.OIDC, LoginMethod.SCRAM), rules.methods(address("127.0.0.1")));
    assertTrue(read("all all all reject\nall all all scram").methods(address("::1")).isEmpty());
    assertEquals(Set.of(LoginMethod.LDAP), read("all jo all ldap").methods(address("::1")));
    assertTrue(rules.names(LoginMethod.CERT));
    assertFalse(read("all all all scram").names(LoginMethod.CERT));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "all all all",
        "all all all scram more",
        "tollgate all all scram",
        "all all all md5",
        "all all all SCRAM",
        "all adm\u0131n all scram",
        "all all localhost scram",
        "all all 10.0.0.0/33 scram",
        "all all 10.0.0.0/08 scram",
        "all all 10.0.0.0/-1 scram",
        "all all 10.0.0.1/8 scram",
        "all all 10.0.0/8 scram",
        "all all 256.0.0.0/8 scram",
        "all all 2001:db8::/129 scram",
        "all all :::/8 scram",
        "all \"all all scram",
      })
  void brokenLineIsNamed(String line) {
    IOException refused =
        assertThrows(IOException.class, () -> read("# rules\nall all ::1 scram\n" + line));
    assertTrue(refused.getMessage().startsWith("rules, line 3: "), refused.getMessage());
  }

  @Test
  void fileWithoutLinesIsRefused() {
    assertThrows(IOException.class, () -> read("# nothing\n"));
    assertThrows(
        IOException.class, () -> read("all all all scram\n".repeat(Limits.LOGIN_RULES + 1)));
    assertThrows(
        IOException.class, () -> LoginRuleFile.parse(new byte[] {(byte) 0xc3, (byte) 0x28}));
  }

  /** Any bytes make rules or a refusal. What fits no line has no way. */
  @Test
  void changedFilesAreReadOrRefused() throws IOException {
    long seed = Long.getLong("tollgate.seed", System.nanoTime());
    Random random = new Random(seed);
    String alphabet = "al 10./8:f#\"\n\t\\ scram\u00e9\u0131\0";
    for (int i = 0; i < Integer.getInteger("tollgate.logins", 2_000); i++) {
      StringBuilder text = new StringBuilder(RULES);
      for (int change = 1 + random.nextInt(4); change > 0; change--) {
        char other = alphabet.charAt(random.nextInt(alphabet.length()));
        int at = random.nextInt(text.length());
        if (random.nextBoolean()) {
          text.setCharAt(at, other);
        } else {
          text.insert(at, other);
        }
      }
      try {
        LoginRuleFile rules = read(text.toString());
        LoginMethod method = rules.method("JO", address("10.0.0.1"));
        assertTrue(
            method == LoginMethod.REJECT || rules.methods(address("10.0.0.1")).contains(method),
            "seed " + seed);
      } catch (IOException e) {
        assertTrue(e.getMessage().startsWith("rules"), "seed " + seed + ": " + e.getMessage());
      }
    }
  }
}
