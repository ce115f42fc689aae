package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tollgate.node.admin.HttpCalls;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The examples of docs/http.md are run, and docs/openapi.yaml has what the node serves. */
@Timeout(120)
class HttpPageTest {
  private static final Path DOCS = Path.of("../docs");

  private Node node;

  @BeforeEach
  void start() throws Exception {
    node = new Node(AdminNode.settings());
    AdminNode.start(node);
  }

  @AfterEach
  void stop() {
    node.closeAtOnce();
  }

  private static boolean isThere(String program) throws InterruptedException {
    try {
      return new ProcessBuilder(program, "--version")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start()
              .waitFor()
          == 0;
    } catch (IOException e) {
      return false;
    }
  }

  /** The lines of the block that begins with this fence. */
  private static List<String> block(String page) throws IOException {
    List<String> lines = Files.readAllLines(DOCS.resolve(page));
    int begin = lines.indexOf("```console");
    return lines.subList(begin + 1, begin + lines.subList(begin, lines.size()).indexOf("```"));
  }

  @Test
  void examplesGiveWhatThePageSays() throws Exception {
    assumeTrue(isThere("bash") && isThere("curl"), "bash and curl are not installed");
    StringBuilder script = new StringBuilder();
    StringBuilder expected = new StringBuilder();
    int commands = 0;
    for (String line : block("http.md")) {
      if (line.startsWith("$ ")) {
        commands++;
        script
            .append(
                line.substring(2)
                    .replace("127.0.0.1:7480", "127.0.0.1:" + node.adminAddress().getPort()))
            .append('\n');
      } else {
        expected.append(line).append('\n');
      }
    }
    assertEquals(11, commands, "the page has these examples");
    Process bash =
        new ProcessBuilder("bash", "-c", script.toString()).redirectErrorStream(true).start();
    String printed = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, bash.waitFor(), printed);
    List<String> wanted = expected.toString().lines().toList();
    List<String> lines = printed.lines().toList();
    assertEquals(wanted.size(), lines.size(), printed);
    for (int i = 0; i < wanted.size(); i++) {
      String[] parts = wanted.get(i).split(Pattern.quote("\"...\""), -1);
      List<String> patterns = new ArrayList<>();
      for (String part : parts) {
        patterns.add(
            Pattern.quote(part).replace("\"remaining_ms\":30000", "\"remaining_ms\":\\E\\d+\\Q"));
      }
      assertTrue(
          lines.get(i).matches(String.join("\"[^\"]+\"", patterns)),
          () -> "the page says " + wanted + "\n but curl prints " + lines);
    }
  }

  @Test
  void descriptionHasTheRoutesOfTheNode() throws Exception {
    String path = null;
    TreeSet<String> described = new TreeSet<>();
    for (String line : Files.readAllLines(DOCS.resolve("openapi.yaml"))) {
      if (line.matches(" {2}/v1/.*:")) {
        path = line.strip().replace(":", "").replaceFirst("\\{.*}", "");
      } else if (line.matches(" {4}(get|post|put|delete):")) {
        described.add(
            line.strip().replace(":", "").toUpperCase(java.util.Locale.ROOT) + " " + path);
      }
    }
    TreeSet<String> served = new TreeSet<>();
    for (String at : List.of("/v1/leases", "/v1/leases/", "/v1/locks/", "/v1/sql")) {
      String allowed =
          HttpCalls.call(node.adminAddress(), "PATCH", at + (at.endsWith("/") ? "1" : ""), "")
              .headers()
              .get("allow");
      for (String method : allowed.split(", ", -1)) {
        if (!method.equals("HEAD")) {
          served.add(method + " " + at);
        }
      }
    }
    assertEquals(described, served);
  }
}
