package dev.tollgate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cluster.Ports;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/**
 * Arguments that make no sense are refused in a sentence, before anything is started or written.
 */
class ArgumentsTest {
  @TempDir private Path directory;

  private record Ended(int status, String err) {}

  private static Ended run(String... arguments) {
    StringWriter err = new StringWriter();
    CommandLine program = Main.commandLine().setErr(new PrintWriter(err, true));
    int status = program.execute(arguments);
    return new Ended(status, err.toString());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "--bogus | Unknown option: '--bogus'",
        "--id=a_blank_b | --id: 'a b' is no name of a node: write 1 to 64 letters, digits,",
        "--client-address=127.0.0.1:0 | --client-address: '127.0.0.1:0' has port 0: write the port",
        "--client-address=7400 | '7400' is no address: write host:port",
        "--raft-address=127.0.0.1:0 | --raft-address: '127.0.0.1:0' has port 0",
        "--peers=n1=h:1,n1=h:2 | --peers has n1 twice: h:1 and h:2",
        "--peers=n1=127.0.0.1:1,n2=127.0.0.1:1 | --peers has n1 and n2 both at 127.0.0.1:1",
        "--peers=n1=A,n2=B | 'A' is no address: write host:port",
        "--peers=n1 | --peers: 'n1' is no node: write id=host:port,id=host:port",
        "--peers=n2=127.0.0.1:1 | --peers does not name this node, n1",
        "--election-timeout=1 | --election-timeout is 1 ms: it has to be from 50 to 60000",
        "--election-timeout=soon | Invalid value for option '--election-timeout': 'soon'",
        "--snapshot-log-mib=0 | --snapshot-log-mib has to be more than 0",
        "--max-connections=0 | --max-connections has to be more than 0",
        "--audit-max-size=1 | Invalid value for option '--audit-max-size': '1' is no size: write"
            + " 512k, 64m or 1g",
        "--audit-max-size=1k | --audit-max-size is 1024 bytes: it has to be from 16k to 1g",
        "--audit-files=1 | --audit-files is 1: it has to be from 2 to 1000",
        "--audit-syslog=log.example:6514 | --audit-syslog sends the lines of a file: set --audit-file",
        "--max-new-connections=0 | --max-new-connections has to be more than 0",
        "--silence-seconds=0 | --silence-seconds is 0: it has to be from 1 to 3600",
        "--max-connections-per-user=-1 | --max-connections-per-user cannot be less than 0",
        "--max-statements-per-second=-1 | --max-statements-per-second cannot be less than 0",
        "--max-unread-mib=0 | --max-unread-mib is 0: it has to be from 1 to 1024",
        "--verify-minutes=-1 | --verify-minutes cannot be less than 0",
        "--rehearsal=soon | Invalid value for option '--rehearsal': 'soon' is no time:"
            + " write 5s, 500ms or off",
        "--rehearsal=-5s | Invalid value for option '--rehearsal': '-5s' is no time",
        "--rehearsal=0s | Invalid value for option '--rehearsal': '0s' has to be from 1ms"
            + " to 60s",
        "--rehearsal=61s | Invalid value for option '--rehearsal': '61s' has to be from"
            + " 1ms to 60s; off for no rehearsal",
        "--join=jdbc:tollgate://h/ | --join needs --raft-address",
        "--admin-address=0 | --admin-address: '0' is no address: write host:port, or a port",
        "--admin-address=:7480 | --admin-address: ':7480' is no address",
        "--admin-address=127.0.0.1:65536 | --admin-address: '127.0.0.1:65536' is no address",
        "--admin-address=0.0.0.0:7480 | other hosts can reach the admin address /0.0.0.0:7480 and"
            + " would not have to log in",
      })
  void serverRefusesInOneSentence(String argument, String message) {
    // a host that every machine knows
    String given = argument.replace("_blank_", " ").replace("=h:", "=127.0.0.1:");
    String[] all = {"server", "--id=n1", "--data=" + directory.resolve("data"), given};
    if (given.startsWith("--id")) {
      all[1] = "--max-connections=1";
    }
    Ended ended = run(all);
    assertEquals(2, ended.status(), ended.err());
    String expected = "tollgate server: " + message.replace("h:", "127.0.0.1:");
    assertTrue(ended.err().startsWith(expected), ended.err());
    assertTrue(ended.err().endsWith("See tollgate server --help\n"), ended.err());
    assertTrue(ended.err().lines().count() <= 3, ended.err());
    assertTrue(Files.notExists(directory.resolve("data")), "nothing has begun");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "backup d --every=6h | --every needs --keep",
        "backup d --keep=0 | --keep is 0: it has to be from 1 to 10000",
        "backup d --keep=10001 | --keep is 10001: it has to be from 1 to 10000",
        "backup d --keep=3 --overwrite | --keep and --overwrite exclude each other",
        "backup d --keep=3 --every=0s | --every has to be from 1s to 366d",
        "backup d --keep=3 --every=367d | --every has to be from 1s to 366d",
        "backup d --keep=3 --every=often | Invalid value for option '--every': 'often' is no time:",
        "lock job sh -c true | Unknown option: '-c'",
        "lock job sh -n | write -- before the command: tollgate lock job -- sh ...",
        "lock job sh -- -c true | write -- before the command: tollgate lock job -- sh ...",
        "lock -- job sh | write -- before the command: tollgate lock job -- sh ...",
        "lock job -- | Missing required parameter: 'COMMAND'",
        "lock job --wait=1s --nonblock -- sh | --nonblock and --wait exclude each other",
        "lock job --ttl=4s --grace=3s -- sh | --grace is 3s: it has to be at most half of --ttl, which"
            + " is 4s",
        "lock job -E 256 -- sh | --conflict-exit-code is 256: it has to be from 0 to 255",
        "lock job --ttl=soon -- sh | Invalid value for option '--ttl': 'soon' is no time:",
      })
  void otherCommandsRefuseInOneSentence(String line, String message) {
    String[] words = line.split(" ", -1);
    String[] all = new String[words.length + 1];
    all[0] = words[0];
    all[1] = "--url=jdbc:tollgate:mem:arguments";
    System.arraycopy(words, 1, all, 2, words.length - 1);
    Ended ended = run(all);
    assertEquals(2, ended.status(), ended.err());
    assertTrue(ended.err().startsWith("tollgate " + words[0] + ": " + message), ended.err());
    assertTrue(ended.err().endsWith("See tollgate " + words[0] + " --help\n"), ended.err());
  }

  @Test
  void portInUseIsNamed() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String address = "127.0.0.1:" + taken.getLocalPort();
      Ended clients =
          run("server", "--id=n1", "--data=" + directory, "--client-address=" + address);
      assertEquals(1, clients.status());
      assertTrue(
          clients
              .err()
              .startsWith("tollgate server: cannot listen for clients on " + address + ": "),
          clients.err());
      assertEquals(1, clients.err().lines().count(), clients.err());
      Ended nodes = run("server", "--id=n1", "--data=" + directory, "--raft-address=" + address);
      assertEquals(1, nodes.status());
      assertTrue(
          nodes.err().startsWith("tollgate server: cannot listen for other nodes on " + address),
          nodes.err());
      Ended admin =
          run(
              "server",
              "--id=n1",
              "--data=" + directory,
              "--client-address=127.0.0.1:" + Ports.free(),
              "--admin-address=" + taken.getLocalPort());
      assertEquals(1, admin.status());
      assertTrue(
          admin.err().startsWith("tollgate server: cannot listen on the admin address localhost:"),
          admin.err());
    }
  }

  /** In Kubernetes, a pod that is away has no name: the others have to start all the same. */
  @Test
  void peerThatHasNoAddressKeepsNobodyFromStarting() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String address = "127.0.0.1:" + taken.getLocalPort();
      Ended ended =
          run(
              "server",
              "--id=n1",
              "--data=" + directory,
              "--client-address=" + address,
              "--peers=n1=127.0.0.1:7500,n2=away.invalid:7500,n3=also-away.invalid:7500");
      assertTrue(
          ended.err().startsWith("tollgate server: cannot listen for clients on " + address),
          ended.err());
    }
  }

  @Test
  void whatIsMissingIsNamed() {
    Ended none = run();
    assertEquals(2, none.status());
    assertEquals("tollgate: which command?\nSee tollgate --help\n", none.err());
    Ended url = run("sql");
    assertEquals(2, url.status());
    assertTrue(url.err().startsWith("tollgate sql: Missing required option: '--url"), url.err());
  }
}
