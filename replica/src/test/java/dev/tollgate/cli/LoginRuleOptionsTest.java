package dev.tollgate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.node.NodeSettings;
import dev.tollgate.node.NodeTls;
import dev.tollgate.node.UserSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Which options for rules and tokens go together, and what is said of those that do not. */
class LoginRuleOptionsTest {
  private static final String[] OIDC = {
    "--oidc-issuer=https://id.example.org/",
    "--oidc-audience=tollgate",
    "--oidc-jwks=https://id.example.org/keys",
  };

  @TempDir private Path directory;

  @Command
  private static final class Options {
    @Mixin private final UserOptions users = new UserOptions();
  }

  private static Options parsed(String... arguments) {
    Options options = new Options();
    new CommandLine(options).parseArgs(arguments);
    return options;
  }

  private static UserSettings read(String... arguments) throws IOException {
    return parsed(arguments).users.settings(NodeTls.logged("n1"));
  }

  private static List<String> complaints(String... arguments) {
    List<String> complaints = new ArrayList<>();
    parsed(arguments)
        .users
        .requireSense(
            (condition, otherwise) -> {
              if (!condition) {
                complaints.add(otherwise);
              }
            });
    return complaints;
  }

  private static String refusal(String... arguments) throws IOException {
    List<String> refusals = new ArrayList<>();
    parsed(arguments)
        .users
        .requireProtection(NodeSettings.embedded("n1", null), read(arguments), null, refusals::add);
    return String.join("", refusals);
  }

  private static String[] with(String[] some, String... more) {
    List<String> all = new ArrayList<>(List.of(some));
    all.addAll(List.of(more));
    return all.toArray(String[]::new);
  }

  private String rules(String text) throws IOException {
    return "--login-rules=" + Files.writeString(directory.resolve("rules"), text);
  }

  @Test
  void withoutTheOptionsAllIsAsBefore() throws Exception {
    UserSettings users = read();
    assertNull(users.rules().methods().rules());
    assertNull(users.rules().methods().tokens());
    assertEquals(List.of(), complaints());
  }

  @Test
  void tokensNeedAnIssuerAnAudienceKeysAndAUser() throws Exception {
    assertTrue(complaints("--oidc-audience=x").get(0).contains("belong to --oidc-issuer"));
    assertTrue(complaints("--oidc-issuer=x", "--oidc-claim=sub").get(0).contains("--oidc-jwks"));
    assertTrue(complaints(OIDC).get(0).contains("--oidc-map"));
    assertEquals(List.of(), complaints(with(OIDC, "--oidc-claim=sub")));
    assertTrue(
        complaints(with(OIDC, "--oidc-claim=sub", "--oidc-clock-skew=301"))
            .get(0)
            .contains("from 0 to 300"));
    assertNotNull(read(with(OIDC, "--oidc-claim=sub")).rules().methods().tokens());
    assertThrows(IOException.class, () -> read(with(OIDC, "--oidc-map=nowhere")));
    for (String keys : List.of("http://id.example.org/keys", "nowhere")) {
      String[] wrong = with(OIDC, "--oidc-claim=sub");
      wrong[2] = "--oidc-jwks=" + keys;
      assertThrows(IOException.class, () -> read(wrong));
    }
  }

  @Test
  void directoryNeedsServersAndAWayToItsEntries() throws Exception {
    String url = "--ldap-url=ldaps://a.example.org,ldap://b.example.org:3389";
    assertTrue(complaints("--ldap-prefix=uid=").get(0).contains("belong to --ldap-url"));
    assertTrue(complaints(url).get(0).contains("--ldap-base"));
    assertTrue(complaints(url, "--ldap-prefix=uid=", "--ldap-base=dc=x").get(0).contains("either"));
    assertTrue(
        complaints(url, "--ldap-prefix=uid=", "--ldap-bind-dn=cn=x").stream()
            .anyMatch(complaint -> complaint.contains("belong to --ldap-base")));
    assertTrue(
        complaints(url, "--ldap-base=dc=x", "--ldap-bind-dn=cn=x").get(0).contains("go together"));
    assertTrue(
        complaints(url, "--ldap-base=dc=x", "--ldap-attribute=cn", "--ldap-filter=(cn=$username)")
            .get(0)
            .contains("leave one out"));
    String[] named = {url, "--ldap-prefix=uid=", "--ldap-suffix=,ou=people,dc=example,dc=org"};
    String[] searched = {url, "--ldap-base=dc=example,dc=org"};
    for (String[] sense : List.of(named, searched)) {
      assertEquals(List.of(), complaints(sense));
      assertNotNull(read(sense).rules().methods().directory());
      // nothing would say whose passwords go there
      assertTrue(refusal(with(sense, "--require-login")).contains("give --login-rules"));
    }
    String ldap = rules("all all all ldap");
    assertTrue(refusal(with(named, ldap, "--require-login")).contains("--tls-certificate"));
    assertTrue(refusal(ldap, "--require-login").contains("--ldap-url"));
    for (String wrong : List.of("http://x", "ldaps://a,b", "ldaps://x y")) {
      assertThrows(
          IOException.class, () -> read("--ldap-url=" + wrong, "--ldap-base=dc=example,dc=org"));
    }
    assertThrows(IOException.class, () -> read(with(searched, "--ldap-trust=nowhere")));
  }

  @Test
  void brokenRulesAreRefusedWithTheirLine() throws Exception {
    String broken = rules("all all all scram\nall all nowhere scram\n");
    IOException refused = assertThrows(IOException.class, () -> read(broken));
    assertTrue(refused.getMessage().contains("rules, line 2: "), refused.getMessage());
  }

  @Test
  void rulesNeedLoginsAndTheirMethods() throws Exception {
    String scram = rules("all all all scram");
    assertTrue(refusal(scram).contains("--require-login"), refusal(scram));
    assertEquals("", refusal(scram, "--require-login"));
    String oidc = rules("all all all oidc");
    assertTrue(refusal(oidc, "--require-login").contains("--oidc-issuer"));
    assertEquals("", refusal(with(OIDC, "--oidc-claim=sub", oidc, "--require-login")));
    String cert = rules("all all all cert");
    assertTrue(refusal(cert, "--require-login").contains("--certificate-login"));
  }
}
