package dev.tollgate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.node.GuardedNode;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/** The commands of the program, at a node that requires a login. */
@Timeout(120)
class LoginOptionsTest {
  @TempDir static Path directory;

  private static GuardedNode node;
  private static Path right;
  private static Path wrong;

  @BeforeAll
  static void start() throws Exception {
    node = new GuardedNode("jo", "secret");
    right = Files.writeString(directory.resolve("right"), "secret\n");
    wrong = Files.writeString(directory.resolve("wrong"), "hunter2\n");
    Files.createDirectory(directory.resolve("scripts"));
    Files.writeString(directory.resolve("scripts/V1__t.sql"), "CREATE TABLE T1(ID INT);");
  }

  @AfterAll
  static void stop() {
    node.close();
  }

  static Stream<List<String>> commands() {
    String url = "--url=" + node.url();
    return Stream.of(
        List.of("sql", url, "-e", "SELECT 1;"),
        List.of("status", url),
        List.of("nodes", url),
        List.of("migrate", url, "--dir=" + directory.resolve("scripts")),
        List.of("backup", url, "--overwrite", directory.resolve("backup").toString()),
        List.of("dump", url, "--overwrite", directory.resolve("dump").toString()));
  }

  private static int run(List<String> command, String... more) {
    CommandLine program = Main.commandLine().setErr(new PrintWriter(new StringWriter(), true));
    return program.execute(Stream.concat(command.stream(), Stream.of(more)).toArray(String[]::new));
  }

  /** A backup and a dump need a log on disk, which this node has not: that is what they say. */
  private static boolean isOfFiles(List<String> command) {
    return command.get(0).equals("backup") || command.get(0).equals("dump");
  }

  @ParameterizedTest
  @MethodSource("commands")
  void commandLogsIn(List<String> command) {
    int status = run(command, "--user=jo", "--password-file=" + right);
    assertEquals(isOfFiles(command) ? Main.FAILED : 0, status);
  }

  @ParameterizedTest
  @MethodSource("commands")
  void commandWithoutTheRightPasswordFails(List<String> command) {
    int refused = command.get(0).equals("migrate") ? 9 : Main.FAILED;
    assertEquals(refused, run(command));
    assertEquals(refused, run(command, "--user=jo", "--password-file=" + wrong));
  }

  @Test
  void passwordIsNoArgument() {
    assertTrue(allOptions(Main.commandLine()).anyMatch("--password-file"::equals));
    assertFalse(allOptions(Main.commandLine()).anyMatch("--password"::equals));
    assertEquals(Main.USAGE, run(List.of("sql", "--url=" + node.url(), "--password=secret")));
  }

  private static Stream<String> allOptions(CommandLine command) {
    Collection<CommandLine> below = command.getSubcommands().values();
    return Stream.concat(
        command.getCommandSpec().options().stream().flatMap(o -> Stream.of(o.names())),
        below.stream().flatMap(LoginOptionsTest::allOptions));
  }
}
