package dev.tollgate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cli.configuration.Configuration;
import dev.tollgate.cli.configuration.EffectiveValue;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.ParseResult;

/** The settings of a node from a file, the environment and the command line. */
class ConfigurationTest {
  @TempDir private Path directory;

  private record Ended(int status, String out, String err) {}

  private Path file(String... lines) throws IOException {
    return Files.write(directory.resolve("tollgate.properties"), List.of(lines));
  }

  /** What a node would take: its values, and where they come from. */
  private static Map<String, EffectiveValue> values(
      @Nullable Path file, Map<String, String> environment, String... arguments) {
    CommandLine program = Main.commandLine(environment, file);
    ParseResult server =
        program
            .parseArgs(
                Stream.concat(Stream.of("server"), Stream.of(arguments)).toArray(String[]::new))
            .subcommand();
    Map<String, EffectiveValue> values = new HashMap<>();
    Configuration.of(server.commandSpec())
        .effectiveValues(server)
        .forEach(value -> values.put(value.name(), value));
    return values;
  }

  private static Ended run(
      @Nullable Path file, Map<String, String> environment, String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int status =
        Main.commandLine(environment, file)
            .setOut(new PrintWriter(out, true))
            .setErr(new PrintWriter(err, true))
            .execute(arguments);
    return new Ended(status, out.toString(), err.toString());
  }

  /** Checks the settings of a node that has what it needs. */
  private Ended check(@Nullable Path file, Map<String, String> environment, String... more) {
    List<String> arguments = new ArrayList<>(List.of("server", "--check-config", "--id=n1"));
    arguments.add("--data=" + directory.resolve("data"));
    arguments.addAll(List.of(more));
    return run(file, environment, arguments.toArray(String[]::new));
  }

  @Test
  void commandLineGoesBeforeEnvironmentAndEnvironmentBeforeFile() throws IOException {
    Path file =
        file("id = of-the-file", "data=/f", "max-connections=1", "audit-files = 11", "peers=");
    Map<String, String> environment =
        Map.of("TOLLGATE_ID", "of-the-environment", "TOLLGATE_MAX_CONNECTIONS", "2");
    Map<String, EffectiveValue> values = values(file, environment, "--id", "of-the-line");
    assertEquals(new EffectiveValue("id", "of-the-line", "--id"), values.get("id"));
    assertEquals(
        new EffectiveValue("max-connections", "2", "TOLLGATE_MAX_CONNECTIONS"),
        values.get("max-connections"));
    assertEquals(new EffectiveValue("data", "/f", file.toString()), values.get("data"));
    assertEquals(
        new EffectiveValue("audit-files", "11", file.toString()), values.get("audit-files"));
    assertEquals(
        new EffectiveValue("election-timeout", "200", "default"), values.get("election-timeout"));
    assertFalse(values.containsKey("peers"), "an empty value is none");
    assertFalse(values.containsKey("config"), "what names the file is no setting");
  }

  @Test
  void emptyVariableIsNoValue() throws IOException {
    Path file = file("id=n7", "data=/f");
    assertEquals("n7", values(file, Map.of("TOLLGATE_ID", "")).get("id").value());
  }

  @Test
  void answersOfTheFileCanBeTakenBack() throws IOException {
    Path file = file("id=n1", "data=/f", "insecure=true", "require-login=true");
    assertEquals("true", values(file, Map.of()).get("insecure").value());
    assertEquals("false", values(file, Map.of(), "--insecure=false").get("insecure").value());
    // an option that is merely there says yes, whatever the file says
    CommandLine program = Main.commandLine(Map.of(), file);
    ParseResult server = program.parseArgs("server", "--insecure", "--require-login").subcommand();
    assertEquals(true, server.matchedOption("--insecure").getValue());
    assertEquals(true, server.matchedOption("--require-login").getValue());
  }

  @Test
  void fileIsNamedByArgumentOrEnvironmentOrIsThatOfTheDistribution() throws IOException {
    Path first = Files.writeString(directory.resolve("1"), "id=first\ndata=/f\n");
    Path second = Files.writeString(directory.resolve("2"), "id=second\ndata=/f\n");
    Path third = Files.writeString(directory.resolve("3"), "id=third\ndata=/f\n");
    Map<String, String> environment = Map.of("TOLLGATE_CONFIG", second.toString());
    assertEquals("first", values(third, environment, "--config=" + first).get("id").value());
    assertEquals(
        "first", values(third, environment, "--config", first.toString()).get("id").value());
    assertEquals("second", values(third, environment).get("id").value());
    assertEquals("third", values(third, Map.of()).get("id").value());
    // a distribution need not have one
    Path none = directory.resolve("none");
    assertEquals(0, check(none, Map.of()).status());
    assertRefused(check(null, Map.of(), "--config=" + none), none + " is not there");
    assertRefused(check(null, Map.of("TOLLGATE_CONFIG", none.toString())), none + " is not there");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/${env:HOME}/$$/ä", "/a$b", "/a$$b", "/$${x}", "/$$$", "/a b#c!d"})
  void valuesAreTakenAsTheyAre(String value) throws IOException {
    for (Map<String, String> environment :
        List.of(Map.<String, String>of(), Map.of("TOLLGATE_DATA", value))) {
      Path file = file("id=n1", "data=" + value);
      assertEquals(value, values(file, environment).get("data").value());
      ParseResult server = Main.commandLine(environment, file).parseArgs("server").subcommand();
      Object taken = server.commandSpec().findOption("--data").getValue();
      assertEquals(Path.of(value), taken);
    }
  }

  private static void assertRefused(Ended ended, String message) {
    assertEquals(2, ended.status(), ended.err());
    assertTrue(ended.err().contains(message), ended.err());
    assertTrue(ended.err().startsWith("tollgate server: "), ended.err());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "cleint-address=h:1 | 'cleint-address' is no setting of a node; the nearest is"
            + " client-address",
        "--id=n1 | '--id' is no setting of a node; the nearest is id",
        "check-config=true | 'check-config' is no setting of a node; the nearest is",
        "config=x | 'config' is no setting of a node; the nearest is",
        "password=hunter2 | 'password' would be a secret in this file: write password-file, with"
            + " the",
        "admin-password=hunter2 | 'admin-password' would be a secret in this file: write",
        "tls-key-password=hunter2 | 'tls-key-password' would be a secret in this file",
        "heap=1g | 'heap' is read before this file is: set TOLLGATE_HEAP in the environment",
        "audit-files=\\u12 | has a backslash with u that is not followed by four hexadecimal"
            + " digits",
      })
  void fileWithWhatIsNoSettingIsRefused(String line, String message) throws IOException {
    Ended ended = check(file("max-connections=7", line), Map.of());
    assertRefused(ended, message);
    assertTrue(ended.err().contains("tollgate.properties"), ended.err());
    assertFalse(ended.err().contains("hunter2"), ended.err());
    assertFalse(Files.exists(directory.resolve("data")));
  }

  @Test
  void fileWithASettingTwiceIsRefused() throws IOException {
    assertRefused(
        check(file("max-connections=7", "# once more", "max-connections=7"), Map.of()),
        "'max-connections' is given twice");
  }

  @Test
  void fileThatCannotBeReadIsRefused() throws IOException {
    assertRefused(check(directory, Map.of()), directory + " is a directory");
    Path latin = Files.write(directory.resolve("latin"), new byte[] {'i', 'd', '=', (byte) 0xe4});
    assertRefused(check(latin, Map.of()), latin + " is not UTF-8");
    Path large = Files.writeString(directory.resolve("large"), "#".repeat((256 << 10) + 1));
    assertRefused(check(large, Map.of()), large + " has more than 262144 bytes");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "TOLLGATE_CLEINT_ADDRESS | nothing reads the variable TOLLGATE_CLEINT_ADDRESS of the"
            + " environment; the nearest name is TOLLGATE_CLIENT_ADDRESS",
        "TOLLGATE_CONFIGS | the nearest name is TOLLGATE_CONFIG",
        "TOLLGATE_HEEP | the nearest name is TOLLGATE_HEAP",
        "TOLLGATE_TLS_CIPHERS | nothing reads the variable TOLLGATE_TLS_CIPHERS",
        "TOLLGATE_ADMIN_PASSWORD | TOLLGATE_ADMIN_PASSWORD would be a secret in the environment:"
            + " set TOLLGATE_ADMIN_PASSWORD_FILE to the path of a file that has it",
      })
  void variableThatNothingReadsIsRefused(String name, String message) {
    Ended ended = check(null, Map.of(name, "hunter2"));
    assertRefused(ended, message);
    assertFalse(ended.err().contains("hunter2"), ended.err());
  }

  @ParameterizedTest
  @ValueSource(strings = {"TOLLGATE_PORT", "TOLLGATE_BOGUS", "TOLLGATE_OPTIMIZER"})
  void variableOfTheHostIsNamedInAWarning(String name) {
    Ended ended = check(null, Map.of(name, "hunter2"));
    assertEquals(0, ended.status(), ended.err());
    assertEquals(
        "tollgate server: warning: nothing reads the variable "
            + name
            + " of the environment: docs/operations.md lists the names of settings\n",
        ended.err());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"TOLLGATE_HOME", "TOLLGATE_IMAGE", "TOLLGATE_JAVA_HOME", "TOLLGATE_VERSION"})
  void reservedVariableIsLetBe(String name) {
    Ended ended = check(null, Map.of(name, "/opt/tollgate"));
    assertEquals(0, ended.status(), ended.err());
    assertEquals("", ended.err());
  }

  /** A Kubernetes service named tollgate gives these to every container of its namespace. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "TOLLGATE_SERVICE_HOST=10.96.0.7",
        "TOLLGATE_SERVICE_PORT=7400",
        "TOLLGATE_SERVICE_PORT_CLIENTS=7400",
        "TOLLGATE_PORT=tcp://10.96.0.7:7400",
        "TOLLGATE_PORT_7400_TCP=tcp://10.96.0.7:7400",
        "TOLLGATE_PORT_7400_TCP_ADDR=10.96.0.7",
        "TOLLGATE_CLIENTS_SERVICE_HOST=10.96.0.7",
        "TOLLGATE_CLIENTS_PORT=tcp://10.96.0.7:7400",
        "TOLLGATE_URL=jdbc:tollgate://h/",
        "TOLLGATE_PASSPHRASE_FILE=/p",
        "TOLLGATE_LOCK_NAME=nightly",
        "TOLLGATE_TOKEN=7",
        "TOLLGATE_HEAP=1g",
        "OTHER_NAME=1",
      })
  void variableOfOthersIsAccepted(String variable) {
    String[] parts = variable.split("=", 2);
    Ended ended = check(null, Map.of(parts[0], parts[1]));
    assertEquals(0, ended.status(), ended.err());
  }

  @Test
  void refusalSaysWhereTheValueComesFrom() throws IOException {
    Path file = file("silence-seconds=0");
    assertRefused(check(file, Map.of()), "--silence-seconds comes from " + file);
    assertRefused(
        check(null, Map.of("TOLLGATE_ELECTION_TIMEOUT", "soon")),
        "--election-timeout comes from TOLLGATE_ELECTION_TIMEOUT");
    Ended argument = check(file, Map.of(), "--silence-seconds=0");
    assertRefused(argument, "--silence-seconds is 0");
    assertFalse(argument.err().contains("comes from"), argument.err());
  }

  @Test
  void checkPrintsValuesWithTheirOriginsAndBeginsNothing() throws IOException {
    Path file = file("verify-minutes = 30", "join=jdbc:tollgate://h:1/?sslKeyPassword=hunter2");
    Ended ended =
        check(
            file, Map.of("TOLLGATE_RAFT_ADDRESS", "127.0.0.1:7500"), "--audit-file=/var/log/audit");
    assertEquals(0, ended.status(), ended.err());
    assertLine(ended.out(), "verify-minutes", "30", file.toString());
    assertLine(ended.out(), "raft-address", "127.0.0.1:7500", "TOLLGATE_RAFT_ADDRESS");
    assertLine(ended.out(), "audit-file", "/var/log/audit", "--audit-file");
    assertLine(ended.out(), "rehearsal", "off", "default");
    assertLine(ended.out(), "join", "jdbc:tollgate://h:1/?sslKeyPassword=...", file.toString());
    assertFalse((ended.out() + ended.err()).contains("hunter2"), ended.out());
    assertTrue(ended.out().endsWith("The settings are valid.\n"), ended.out());
    assertFalse(Files.exists(directory.resolve("data")));
  }

  private static void assertLine(String out, String... cells) {
    assertTrue(
        out.lines().anyMatch(line -> List.of(line.split("\\s{2,}")).equals(List.of(cells))),
        () -> String.join(" ", cells) + " is no line of\n" + out);
  }

  @Test
  void checkFindsFilesThatAreMissingAndNodesThatAreOpen() {
    assertRefused(
        check(null, Map.of(), "--admin-password-file=" + directory.resolve("none")),
        directory.resolve("none") + " is not there");
    assertRefused(check(null, Map.of(), "--tls-certificate=/none", "--tls-key=/none"), "/none");
    assertRefused(
        check(null, Map.of(), "--client-listen=0.0.0.0:7400"),
        "clients of other hosts can reach /0.0.0.0:7400 and would not have to log in");
    assertRefused(
        check(
            null,
            Map.of(),
            "--raft-address=127.0.0.1:7500",
            "--join=jdbc:tollgate://h:1/?password=hunter2"),
        "--join has a password in it");
  }

  /** A peer that is away may have no address at the moment. */
  @Test
  void peersAreNotLookedUp() {
    String peers = "--peers=n1=127.0.0.1:7500,n2=no.host.invalid:7500";
    Ended ended = check(null, Map.of(), peers);
    assertEquals(0, ended.status(), ended.err());
    assertRefused(check(null, Map.of(), peers + ",n3=other"), "'other' is no address");
  }

  @Test
  void helpIsGivenWhateverTheFileSays() throws IOException {
    Ended ended = run(file("bogus=1"), Map.of("TOLLGATE_BOGUS", "1"), "server", "--help");
    assertEquals(0, ended.status(), ended.err());
    assertTrue(ended.out().contains("--check-config"), ended.out());
  }

  @Test
  void otherCommandsDoNotReadTheFile() throws IOException {
    Ended ended = run(file("bogus=1"), Map.of("TOLLGATE_BOGUS", "1"), "status");
    assertEquals(2, ended.status());
    assertTrue(ended.err().contains("say which cluster"), ended.err());
  }
}
