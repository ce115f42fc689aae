package dev.tollgate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.node.NodeSettings;
import dev.tollgate.node.NodeTls;
import dev.tollgate.node.UserSettings;
import dev.tollgate.tls.CertificateDemand;
import dev.tollgate.tls.TestCertificates;
import dev.tollgate.tls.TlsCredentials;
import dev.tollgate.tls.TlsVersion;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Where the admin address listens, and what it needs there. */
class AdminOptionsTest {
  private static final UserSettings LOGIN =
      new UserSettings(/* loginRequired= */ true, /* firstAdministrator= */ null);

  @TempDir private Path directory;

  @Command
  private static final class Options {
    @Mixin private final AdminOptions admin = new AdminOptions();
    @Mixin private final UserOptions users = new UserOptions();
  }

  private static @Nullable InetSocketAddress address(String... arguments)
      throws UnknownHostException {
    Options options = new Options();
    CommandLine command = new CommandLine(options);
    command.parseArgs(arguments);
    return options.admin.address(command);
  }

  private static List<String> refusals(
      String address, @Nullable NodeTls tls, UserSettings users, String... arguments)
      throws UnknownHostException {
    Options options = new Options();
    new CommandLine(options).parseArgs(arguments);
    List<String> refusals = new ArrayList<>();
    options.users.requireProtection(
        NodeSettings.embedded("n1", null)
            .withTls(tls)
            .withAdmin(address("--admin-address", address)),
        users,
        null,
        refusals::add);
    return refusals;
  }

  private NodeTls tls(@Nullable CertificateDemand clients) throws Exception {
    TestCertificates certificates = new TestCertificates(directory);
    certificates.node("n1");
    return new NodeTls(
        new TlsCredentials(certificates.files("n1"), TlsVersion.TLS_1_3, certificates.events),
        clients,
        /* peers= */ true);
  }

  @Test
  void portAloneIsOnLoopbackAndByDefaultThereIsNone() throws Exception {
    assertNull(address());
    InetSocketAddress port = address("--admin-address", "7480");
    assertTrue(port.getAddress().isLoopbackAddress());
    assertEquals(7480, port.getPort());
    InetSocketAddress six = address("--admin-address", "[::1]:7480");
    assertTrue(six.getAddress().isLoopbackAddress());
    InetSocketAddress any = address("--admin-address", "0.0.0.0:7480");
    assertTrue(any.getAddress().isAnyLocalAddress());
  }

  @Test
  void loopbackNeedsNothing() throws Exception {
    assertEquals(List.of(), refusals("7480", null, UserSettings.OPTIONAL));
  }

  @Test
  void otherAddressNeedsLoginsAndTls() throws Exception {
    String open = "0.0.0.0:7480";
    NodeTls encrypted = tls(CertificateDemand.WANTED);
    assertEquals(List.of(), refusals(open, encrypted, LOGIN));
    assertRefused("would not have to log in", refusals(open, encrypted, UserSettings.OPTIONAL));
    assertRefused("without TLS", refusals(open, null, LOGIN));
    assertRefused("without TLS", refusals(open, tls(/* clients= */ null), LOGIN));
    assertEquals(List.of(), refusals(open, null, UserSettings.OPTIONAL, "--insecure"));
  }

  private static void assertRefused(String why, List<String> refusals) {
    assertEquals(1, refusals.size());
    assertTrue(refusals.get(0).contains(why), refusals.get(0));
  }
}
