package dev.tollgate.node.scripts;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.node.AdminNode;
import dev.tollgate.node.Node;
import dev.tollgate.node.admin.HttpCalls;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Bodies, paths and bytes that no well-meant script sends: each is refused, in JSON. */
@Timeout(180)
class ScriptFuzzTest {
  private static final int MUTATIONS = 1_500;

  private static final List<List<String>> REQUESTS =
      List.of(
          List.of("POST", "/v1/leases", "{\"ttl\":\"10s\",\"owner\":\"a \\u00e9\"}"),
          List.of("POST", "/v1/locks/a%20b", "{\"lease\":1,\"wait\":0,\"shared\":true}"),
          List.of("PUT", "/v1/locks/job", "{\"lease\":1,\"token\":17}"),
          List.of("DELETE", "/v1/locks/job?lease=1&keep=1s", ""),
          List.of("GET", "/v1/leases?after=5&limit=10", ""),
          List.of("DELETE", "/v1/leases/12", ""),
          List.of("POST", "/v1/sql", "{\"sql\":\"VALUES (?, ?)\",\"parameters\":[1.5,[null]]}"));

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

  private HttpCalls.Reply call(String method, String path, String body) throws IOException {
    return HttpCalls.call(
        node.adminAddress(), method, path, body, "Content-Type", "application/json");
  }

  /** Changes, removes, adds or repeats characters. */
  private static String mutated(String text, Random random, String alphabet) {
    StringBuilder mutant = new StringBuilder(text);
    for (int i = random.nextInt(4); i >= 0; i--) {
      int at = random.nextInt(mutant.length() + 1);
      String piece = String.valueOf(alphabet.charAt(random.nextInt(alphabet.length())));
      switch (random.nextInt(4)) {
        case 0 -> mutant.insert(at, piece);
        case 1 -> mutant.replace(at, Math.min(mutant.length(), at + 1), piece);
        case 2 -> mutant.delete(at, Math.min(mutant.length(), at + 1 + random.nextInt(4)));
        default -> mutant.insert(at, piece.repeat(random.nextInt(40)));
      }
    }
    return mutant.toString();
  }

  @Test
  void mutatedRequestsAreAnsweredInJson() throws Exception {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int i = 0; i < MUTATIONS; i++) {
      List<String> request = REQUESTS.get(random.nextInt(REQUESTS.size()));
      String path = request.get(1);
      String body = request.get(2);
      if (body.isEmpty() || random.nextInt(4) == 0) {
        path = "/v1/" + mutated(path.substring("/v1/".length()), random, "/%2Fc0x.;=&?+-~@!:9");
      } else {
        body = mutated(body, random, "{}[]\",:\\u0019-+.eEtfn\u0000\u0007\u00e9\ud83d \n'");
      }
      if (!isUri(path)) {
        continue; // the JDK's server refuses it
      }
      String sent = "seed " + seed + ": " + request.get(0) + " " + path + " " + body;
      HttpCalls.Reply reply = call(request.get(0), path, body);
      assertNotEquals(500, reply.status(), sent + " got " + reply);
      assertEquals("application/json; charset=utf-8", reply.headers().get("content-type"), sent);
      boolean error = JsonReader.object(reply.body().getBytes(UTF_8)).get("error") != null;
      assertEquals(reply.status() >= 400 && !reply.body().contains("\"token\":null"), error, sent);
    }
  }

  private static boolean isUri(String path) {
    try {
      return new URI(path).getRawPath().startsWith("/v1/");
    } catch (URISyntaxException e) {
      return false;
    }
  }

  private void assertRefused(String state, HttpCalls.Reply reply) {
    assertTrue(reply.status() >= 400 && reply.status() < 500, reply.toString());
    assertTrue(reply.body().startsWith("{\"error\":{\"sql_state\":\"" + state), reply.body());
  }

  @Test
  void largeAndDeepBodiesAreRefused() throws Exception {
    int most = 1 << 20;
    assertRefused("22023", call("POST", "/v1/sql", "[".repeat(most)));
    assertRefused("22023", call("POST", "/v1/sql", "{\"sql\":".repeat(most / 8)));
    HttpCalls.Reply number = call("POST", "/v1/sql", "{\"a\":" + "9".repeat(most - 6) + "}");
    assertRefused("22023", number);
    assertTrue(number.body().contains("characters: at most 400"), "is not parsed: " + number);
    assertRefused("22023", call("POST", "/v1/sql", "\u0000".repeat(most)));
    assertRefused("54000", call("POST", "/v1/sql", " ".repeat(most + 1)));
    assertRefused(
        "22023",
        call(
            "POST",
            "/v1/sql",
            "{\"sql\":\"SELECT 1\",\"parameters\":[" + "[],".repeat(most / 4) + "[]]}"));
    assertEquals(200, call("POST", "/v1/sql", "{\"sql\":\"SELECT 1\"}").status());
  }

  @Test
  void valuesThatNoColumnCouldHoldAreRefused() throws Exception {
    for (String value :
        List.of(
            "1e5000",
            "-1e-90000",
            "[1, 1e5000]",
            "1" + "0".repeat(300) + "e99999",
            "[" + "1,".repeat(70_000) + "1]",
            "[[" + "\"a\",".repeat(70_000) + "\"a\"]]")) {
      assertRefused(
          "22023",
          call("POST", "/v1/sql", "{\"sql\":\"SELECT ?\",\"parameters\":[" + value + "]}"));
    }
  }

  @Test
  void headsThatAreWrongEndTheirConnection() throws Exception {
    for (String head :
        List.of(
            "POST /v1/sql HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
            "POST /v1/sql HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "POST /v1/sql HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
            "POST /v1/sql HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "POST /v1/sql HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
            "GET /v1/locks/%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "GET /v1/leases HTTP/9.9\r\n\r\n")) {
      try (Socket socket = HttpCalls.connect(node.adminAddress())) {
        socket.getOutputStream().write(head.getBytes(ISO_8859_1));
        socket.shutdownOutput();
        String answer = new String(socket.getInputStream().readAllBytes(), UTF_8);
        assertTrue(answer.isEmpty() || answer.startsWith("HTTP/1.1 4"), head + answer);
      } catch (SocketException reset) {
        // an end too, and none is a wait that was given up
      }
    }
    assertEquals(200, call("POST", "/v1/sql", "{\"sql\":\"SELECT 1\"}").status());
  }
}
