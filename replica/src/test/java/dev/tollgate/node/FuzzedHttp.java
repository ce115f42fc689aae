package dev.tollgate.node;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Requests of HTTP as no browser sends them: well formed ones with strange values, made after
 * docs/openapi.yaml, and ones that break the rules of HTTP/1.1. All follows from the seed.
 */
final class FuzzedHttp {
  /** What has to become of a request. */
  enum Fate {
    /** It is answered, and the next one on the connection too. */
    SERVED,
    /** It is answered as if nothing were wrong, or refused with an end of the connection. */
    EITHER,
    /** It is refused, or not answered, and what follows it is never read as a request. */
    REFUSED
  }

  /** What the client does once all is sent. */
  enum Ending {
    READS,
    /** Sends one more good request, which has to be answered, if the connection goes on. */
    GOES_ON,
    LEAVES,
    /** Closes the half on which it sends. */
    HALF,
    /** Says nothing more until the round is over. */
    STAYS,
    /** Reads the beginning of an answer without an end. */
    STREAMS
  }

  /**
   * A request that was sent.
   *
   * @param continues whether the node may say 100 before the answer
   * @param check what is wrong with an answer; null if nothing is
   */
  record Wanted(
      String method,
      Fate fate,
      boolean continues,
      Function<HttpTalk.Answer, @Nullable String> check) {}

  /** Whatever is sent on one connection. */
  record Conversation(String kind, List<byte[]> pieces, List<Wanted> wanted, Ending ending) {
    /** The beginning of all that is sent, for a message. */
    String shown() {
      StringBuilder text = new StringBuilder();
      for (byte[] piece : pieces) {
        text.append(new String(piece, ISO_8859_1)).append('|');
      }
      String all = text.toString().replace("\r", "\\r").replace("\n", "\\n\n");
      return kind + ", " + ending + ":\n" + all.substring(0, Math.min(all.length(), 3_000));
    }
  }

  /** The owner of a lease that no request may create: it is in bodies and behind bad heads. */
  static final String SMUGGLED = "smuggled";

  /** No change of leaders and no bug. */
  private static final Set<String> NEVER = Set.of("307", "421", "500", "520");

  private static final Set<Integer> STATUSES =
      Set.of(200, 201, 400, 401, 403, 404, 405, 409, 410, 413, 415, 429, 431, 503, 504);

  private static final Pattern INSIDE =
      Pattern.compile(
          "\\tat |\\.java:\\d|Exception|dev\\.tollgate|org\\.(h2|apache)|io\\.netty|java\\."
              + "(lang|util|io|net|sql)|/tmp/|/home/|/target/|\\bnull pointer\\b");

  private static final Pattern BAD_ESCAPE = Pattern.compile("%(?![0-9a-fA-F]{2})");

  private static final List<String> PAGES =
      List.of(
          "/health/live",
          "/health/ready",
          "/metrics",
          "/debug",
          "/debug/state",
          "/console",
          "/console/state",
          "/console/state?lock=a",
          "/v1/leases",
          "/v1/locks/a");

  private static final List<String> PATHS =
      List.of(
          "/",
          "//",
          "/.",
          "/..",
          "/health/../debug/threads",
          "/health/%2e%2e/debug/state",
          "/health/live/",
          "/health/live%00",
          "/health/live%20",
          "/health/%6cive",
          "/HEALTH/LIVE",
          "/v1",
          "/v1/",
          "/v1/locks",
          "/v1/locks/",
          "/v1/locks/%",
          "/v1/locks/%2",
          "/v1/locks/%zz",
          "/v1/locks/%00",
          "/v1/locks/%C0%AF",
          "/v1/locks/%ED%A0%BD",
          "/v1/locks/%F0%9F%98%80",
          "/v1/locks/..%2f..%2fdebug",
          "/v1/locks/a/b",
          "/v1/locks/a;b=c",
          "/v1/locks/a%3Fb",
          "/v1/locks/" + "x".repeat(255),
          "/v1/locks/" + "x".repeat(256),
          "/v1/locks/" + "%41".repeat(2_000),
          "/v1/leases/",
          "/v1/leases/0",
          "/v1/leases/-1",
          "/v1/leases/01",
          "/v1/leases/1e3",
          "/v1/leases/9223372036854775807",
          "/v1/leases/9223372036854775808",
          "/v1/leases/1/2",
          "/v1/leases?limit=0",
          "/v1/leases?limit=1001",
          "/v1/leases?limit=1&limit=2",
          "/v1/leases?after=",
          "/v1/leases?after",
          "/v1/leases?=1",
          "/v1/leases?&&",
          "/v1/leases?after=%",
          "/v1/leases#after",
          "/console/../metrics",
          "/console/%2e%2e/",
          "/console/state?lock=%",
          "/console/state?lock=" + "y".repeat(3_000),
          "/metrics?name[]=a",
          "/metrics?name%5B%5D=tollgate_ready",
          "http://evil.example/health/live",
          "http://evil.example:99999/metrics",
          "http:///metrics",
          "http://[::1]/metrics",
          "evil.example:80",
          "*",
          "metrics",
          "?",
          "mailto:a@b",
          "/a b",
          "/a\tb",
          "/a\u0001b",
          "/\u00e9",
          "/{a}",
          "/\"a\"",
          "/a\\b",
          "/a|b",
          "/a^b",
          "/%u0041");

  private static final List<String> METHODS =
      List.of(
          "GET",
          "HEAD",
          "POST",
          "PUT",
          "DELETE",
          "OPTIONS",
          "TRACE",
          "CONNECT",
          "PATCH",
          "get",
          "PRI",
          "G",
          "GETGETGETGETGETGETGETGETGETGETGETGETGETGET",
          "G.T",
          "!",
          "M-SEARCH");

  /** Headers that a good request may have too. */
  private static final List<String> HEADERS =
      List.of(
          "Range: bytes=0-0",
          "Range: bytes=-1",
          "Range: bytes=9-1,0-,5-5",
          "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__",
          "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw=="
              + "\r\nSec-WebSocket-Version: 13",
          "Accept: application/*;q=0",
          "Accept-Encoding: gzip, br, *;q=0",
          "Content-Encoding: gzip",
          "If-None-Match: *",
          "If-Match: \"a\"",
          "If-Modified-Since: never",
          "Cookie: a=b",
          "Authorization: Basic",
          "Authorization: Basic !!!",
          "Authorization: Bearer",
          "Authorization: Digest username=\"root\"",
          "Authorization: Negotiate YII=",
          "X-Forwarded-For: 10.0.0.1",
          "X-HTTP-Method-Override: DELETE",
          "Connection: keep-alive",
          "Connection: x, y",
          "Keep-Alive: timeout=99999",
          "TE: trailers",
          "Trailer: Content-Length",
          "Max-Forwards: 0",
          "X-Empty:",
          "X-High: \u00e9\u00ff",
          "X-Long: " + "z".repeat(4_000));

  private static final List<String> NAMES =
      List.of("a", "b", "job", "a%20b", "%C3%A4", "a%2Fb", "%F0%9F%98%80", "%", "%00", "", "x%zz");

  private static final List<String> TIMES =
      List.of(
          "0",
          "1",
          "20",
          "50",
          "\"20ms\"",
          "\"0\"",
          "\"1s\"",
          "\"1s\"",
          "-1",
          "1.5",
          "1e2",
          "\"1d\"",
          "\"\"",
          "\"-1s\"",
          "\"1S\"",
          "\" 1s\"",
          "\"999999999h\"",
          "9223372036854775807",
          "99999999999999999999",
          "\"\u0661s\"",
          "true");

  private static final List<String> NUMBERS =
      List.of(
          "0",
          "1",
          "2",
          "3",
          "17",
          "-1",
          "9223372036854775807",
          "9223372036854775808",
          "-9223372036854775808",
          "1.0",
          "1.5",
          "1e0",
          "1e400",
          "-0",
          "\"1\"",
          "9".repeat(400),
          "9".repeat(401),
          "01",
          "+1",
          "0x1",
          "NaN");

  private static final List<String> BOOLEANS =
      List.of("true", "false", "\"true\"", "1", "null", "TRUE", "tru");

  private static final List<String> TEXTS =
      List.of(
          "\"a\"",
          "\"\"",
          "\" \"",
          "\"\\u0000\"",
          "\"\\ud83d\"",
          "\"\\ud83d\\ude00\"",
          "\"\\u00e4\"",
          "\"a\\nb\\tc\"",
          "\"\u0007\"",
          "\"\\x\"",
          "\"a",
          "1",
          "null",
          "\"" + "x".repeat(255) + "\"",
          "\"" + "x".repeat(256) + "\"",
          "\"" + "x".repeat(70_000) + "\"",
          "\"--'; /* \"",
          "[\"a\"]");

  private static final List<String> ARRAYS =
      List.of(
          "[]",
          "[1]",
          "[\"a\", 1]",
          "[\"a\", 0, 20]",
          "[null, true]",
          "[[1, 2]]",
          "[[1, null]]",
          "[\"job\", 17]",
          "[1.5, \"2024-02-30\"]",
          "[\"a\", \"a\"]",
          "[{}]",
          "[[[[[[[[[1]]]]]]]]]",
          "[1e5000]",
          "[\"\\u0000\"]",
          "[[]]",
          "[1,]",
          "null",
          "\"a\"",
          "[" + "1,".repeat(10_000) + "1]",
          "[[" + "1,".repeat(70_000) + "1]]",
          "[-1e-9999]");

  /** What no reader may take for a request with a known end: lines of a head. */
  private static final List<String> BAD_FRAMES =
      List.of(
          "Content-Length: -1",
          "Content-Length: +3",
          "Content-Length: 0x3",
          "Content-Length: 3 3",
          "Content-Length: 3, 4",
          "Content-Length: 99999999999999999999",
          "Content-Length: 3\r\nContent-Length: 4",
          "Content-Length: 4\r\nContent-Length: 3",
          "Content-Length: 3\r\nTransfer-Encoding: chunked",
          "Transfer-Encoding: chunked\r\nContent-Length: 3",
          "Transfer-Encoding: chunked\r\ncontent-length: 0",
          "Transfer-Encoding: xchunked",
          "Transfer-Encoding: identity",
          "Transfer-Encoding: gzip",
          "Transfer-Encoding: chunked, gzip",
          "Transfer-Encoding: chunked, identity",
          "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
          "Transfer-Encoding: identity\r\nTransfer-Encoding: x",
          "Transfer-Encoding: \"chunked\"",
          "Transfer-Encoding: chunked;q=1",
          "Transfer-Encoding: chunked2",
          "Transfer-Encoding: c hunked",
          "Transfer-Encoding:",
          "Transfer-Encoding: ,",
          "Transfer-Encoding : chunked",
          "Transfer-Encoding\t: chunked",
          "Content-Length : 3",
          "Content-Length\u0000: 3",
          "Transfer-Encoding\u000b: chunked",
          "Content Length: 3",
          "X-\u00e9: a",
          "no colon",
          ": no name",
          "Host: two.example");

  /** What may stand behind such a head. */
  private static final List<String> BODIES =
      List.of(
          "",
          "abc",
          "0\r\n\r\n",
          "3\r\nabc\r\n0\r\n\r\n",
          "2\r\n{}\r\n0\r\n\r\n",
          "c\r\n{\"ttl\":1000}\r\n0\r\n\r\n");

  private static final String LEASE = "{\"ttl\":\"1s\"}";
  private static final String SIZE = Integer.toHexString(LEASE.length());

  /** Heads after their target, with a body, of which two readers see two ends. */
  private static final List<String> BAD_HEADS =
      Stream.of(
              "HTTP/1.1\nHost: HOST\nTYPE\nLENGTH\n\nBODY",
              "HTTP/1.1\r\nHost: HOST\r\nTYPE\r\nLENGTH\r\n\nBODY",
              "HTTP/1.1\r\nHost: HOST\r\nTYPE\r\nX: a\nLENGTH\r\n\r\nBODY",
              "HTTP/1.1\r\nHost: HOST\r\nTYPE\r\nX: a\nTransfer-Encoding: chunked\r\n\r\nCHUNKS",
              "HTTP/1.0\r\nHost: HOST\r\nTYPE\r\nTransfer-Encoding: chunked\r\n\r\nCHUNKS")
          .map(head -> head.replace("TYPE", "Content-Type: application/json"))
          .map(head -> head.replace("LENGTH", "Content-Length: " + LEASE.length()))
          .map(head -> head.replace("CHUNKS", SIZE + "\r\nBODY\r\n0\r\n\r\n"))
          .map(head -> head.replace("BODY", LEASE))
          .toList();

  /** Bodies in chunks of which no reader knows the end. */
  private static final List<String> WRONG_CHUNKS =
      List.of(
          "zz\r\n" + LEASE + "\r\n0\r\n\r\n",
          "-1\r\n" + LEASE + "\r\n0\r\n\r\n",
          "+" + SIZE + "\r\n" + LEASE + "\r\n0\r\n\r\n",
          "0x" + SIZE + "\r\n" + LEASE + "\r\n0\r\n\r\n",
          SIZE + "\n" + LEASE + "\n0\n\n",
          SIZE + "\r\n" + LEASE + "0\r\n\r\n",
          SIZE + "\r\n" + LEASE + "xx\r\n0\r\n\r\n",
          "FFFFFFFF\r\n" + LEASE,
          "7FFFFFFFFFFFFFFF\r\n" + LEASE,
          "FFFFFFFFFFFFFFFF\r\n" + LEASE,
          "80000000\r\n" + LEASE,
          "\r\n" + LEASE + "\r\n0\r\n\r\n",
          SIZE + "\r" + LEASE + "\r\n0\r\n\r\n",
          SIZE + ";a\n" + LEASE + "\r\n0\r\n\r\n",
          SIZE + ";\"\r\n\"\r\n" + LEASE + "\r\n0\r\n\r\n",
          SIZE + " " + SIZE + "\r\n" + LEASE + "\r\n0\r\n\r\n",
          SIZE + "\r\n" + LEASE + "\r\n0\r\n" + "X: " + "y".repeat(20_000) + "\r\n\r\n",
          SIZE + "\r\n" + LEASE + "\r\n0\r\nno colon\r\n\r\n");

  private final Random random;
  private final OpenApi api;
  private final FuzzedMessages messages;
  private final String host;
  private final List<Long> leases;

  /**
   * @param host of the node, with its port
   * @param leases some that are alive
   */
  FuzzedHttp(Random random, OpenApi api, String host, List<Long> leases) {
    this.random = random;
    this.api = api;
    this.messages = new FuzzedMessages(random);
    this.host = host;
    this.leases = leases;
  }

  private <T> T one(List<T> from) {
    return from.get(random.nextInt(from.size()));
  }

  private boolean rarely(int times) {
    return random.nextInt(times) == 0;
  }

  /** What is wrong with any answer, whatever was asked. */
  static @Nullable String common(HttpTalk.Answer answer) {
    if (!STATUSES.contains(answer.status())) {
      return "no documented status: " + answer.status();
    }
    if (INSIDE.matcher(answer.body()).find()) {
      return "the answer shows the inside of the node";
    }
    if (answer.status() == 405 && answer.header("allow").isEmpty()) {
      return "405 without Allow";
    }
    if (answer.status() == 401 && answer.header("www-authenticate").isEmpty()) {
      return "401 without WWW-Authenticate";
    }
    return answer.header("content-type").isEmpty() ? "an answer without Content-Type" : null;
  }

  /** A conversation of some kind. */
  Conversation next() {
    return switch (random.nextInt(24)) {
      case 0, 1, 2, 3, 4, 5, 6, 7, 8 -> described();
      case 9, 10 -> pages();
      case 11 -> paths();
      case 12, 13, 14 -> badFrame();
      case 15, 16 -> chunks();
      case 17 -> large();
      case 18 -> heads();
      case 19, 20 -> mutated();
      case 21 -> noHttp();
      case 22 -> streams();
      default -> abandoned();
    };
  }

  private byte[] request(String method, String target, List<String> headers, byte[] body) {
    StringBuilder head = new StringBuilder(method + " " + target + " HTTP/1.1\r\n");
    head.append("Host: ").append(host).append("\r\n");
    headers.forEach(header -> head.append(header).append("\r\n"));
    if (body.length > 0 || method.equals("POST") || method.equals("PUT")) {
      head.append("Content-Length: ").append(body.length).append("\r\n");
    }
    return joined(head.append("\r\n").toString().getBytes(ISO_8859_1), body);
  }

  private static byte[] joined(byte[] first, byte[] second) {
    byte[] all = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, all, first.length, second.length);
    return all;
  }

  /** Cuts what is sent into pieces, so that a reader meets the middle of everything. */
  private List<byte[]> pieces(List<byte[]> requests) {
    byte[] all = {};
    for (byte[] request : requests) {
      all = joined(all, request);
    }
    if (random.nextInt(3) != 0 || all.length == 0) {
      return List.of(all);
    }
    TreeSet<Integer> cuts = new TreeSet<>();
    for (int i = 1 + random.nextInt(6); i > 0; i--) {
      cuts.add(random.nextInt(all.length));
    }
    List<byte[]> pieces = new ArrayList<>();
    int from = 0;
    for (int cut : cuts) {
      pieces.add(Arrays.copyOfRange(all, from, cut));
      from = cut;
    }
    pieces.add(Arrays.copyOfRange(all, from, all.length));
    return pieces;
  }

  private Conversation conversation(String kind, List<byte[]> requests, List<Wanted> wanted) {
    return conversation(kind, requests, wanted, rarely(3) ? Ending.READS : Ending.GOES_ON);
  }

  private Conversation conversation(
      String kind, List<byte[]> requests, List<Wanted> wanted, Ending ending) {
    return new Conversation(kind, pieces(requests), wanted, ending);
  }

  /** A request after openapi.yaml, with values of the right types and of others. */
  private Conversation described() {
    List<byte[]> requests = new ArrayList<>();
    List<Wanted> wanted = new ArrayList<>();
    for (int i = 1 + (rarely(3) ? random.nextInt(4) : 0); i > 0; i--) {
      describedRequest(requests, wanted);
    }
    return conversation("described", requests, wanted);
  }

  private void describedRequest(List<byte[]> requests, List<Wanted> wanted) {
    OpenApi.Operation operation = one(List.copyOf(api.operations().values()));
    String target =
        operation
            .path()
            .replace("{lease}", rarely(3) ? one(NAMES) : lease())
            .replace("{name}", rarely(4) ? one(NAMES) : one(NAMES.subList(0, 3)));
    Map<String, String> members = members(operation);
    boolean hasBody = api.bodyOf(operation) != null;
    String body = "";
    List<String> headers = new ArrayList<>();
    if (hasBody) {
      body = json(members);
      headers.add(
          rarely(25)
              ? "Content-Type: text/plain"
              : "Content-Type: application/json; charset=utf-8");
    } else if (!members.isEmpty()) {
      target += query(members);
    }
    boolean continues = rarely(8);
    if (continues) {
      headers.add("Expect: 100-continue");
    }
    if (rarely(4)) {
      headers.add(one(HEADERS));
    }
    byte[] bytes = body.getBytes(UTF_8);
    boolean changed = hasBody && rarely(8);
    String method = operation.method();
    boolean head = method.equals("GET") && rarely(6);
    String sentTo = target;
    requests.add(
        request(
            head ? "HEAD" : method, target, headers, changed ? messages.mutated(bytes) : bytes));
    wanted.add(
        new Wanted(
            head ? "HEAD" : method,
            Fate.SERVED,
            continues,
            answer ->
                isNoUri(answer, sentTo) ? common(answer) : complaint(operation, head, answer)));
  }

  /** What is no URI is refused in words, whatever it was for. */
  private static boolean isNoUri(HttpTalk.Answer answer, String target) {
    return answer.status() == 400
        && answer.closes()
        && answer.body().startsWith("400 Bad Request: this is no request")
        && BAD_ESCAPE.matcher(target).find();
  }

  private String lease() {
    long lease = leases.isEmpty() || rarely(6) ? messages.number() : one(leases);
    return String.valueOf(lease);
  }

  private Map<String, String> members(OpenApi.Operation operation) {
    Map<String, String> members = new TreeMap<>();
    api.typesOf(operation)
        .forEach(
            (name, type) -> {
              if (!rarely(name.equals("sql") ? 40 : 3)) {
                members.put(name, value(name, type));
              }
            });
    if (members.containsKey("lease") && !rarely(5)) {
      members.remove("ttl");
      members.remove("owner");
    }
    if (rarely(30)) {
      members.put("zzz", "1");
    }
    return members;
  }

  private String value(String name, String type) {
    if (name.equals("lease")) {
      return rarely(5) ? one(NUMBERS) : lease();
    }
    if (name.equals("sql")) {
      return rarely(8) ? one(TEXTS) : quoted(messages.statement());
    }
    List<String> values =
        switch (type) {
          case "time" -> TIMES;
          case "integer" -> NUMBERS;
          case "boolean" -> BOOLEANS;
          case "array" -> ARRAYS;
          default -> TEXTS;
        };
    return rarely(12) ? one(NUMBERS) : one(rarely(3) ? values : values.subList(0, 3));
  }

  private static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    text.chars().forEach(c -> quoted.append(String.format("\\u%04x", c)));
    return quoted.append('"').toString();
  }

  private String json(Map<String, String> members) {
    StringBuilder json = new StringBuilder("{");
    members.forEach(
        (name, value) -> {
          json.append(json.length() > 1 ? "," : "").append('"').append(name).append("\":");
          json.append(value);
          if (rarely(40)) {
            json.append(",\"").append(name).append("\":").append(value);
          }
        });
    return json.append(rarely(40) ? "}}" : "}").toString();
  }

  private String query(Map<String, String> members) {
    StringBuilder query = new StringBuilder();
    members.forEach(
        (name, value) -> {
          query.append(query.length() == 0 ? '?' : '&').append(name).append('=');
          String plain = value.replace("\"", "");
          query.append(plain.length() > 2_000 ? plain.substring(0, 2_000) : escaped(plain));
        });
    return query.toString();
  }

  private static String escaped(String text) {
    StringBuilder escaped = new StringBuilder();
    for (byte each : text.getBytes(UTF_8)) {
      boolean plain = Character.isLetterOrDigit(each) || ".-+%".indexOf(each) >= 0;
      escaped.append(plain ? "" + (char) each : String.format("%%%02X", each));
    }
    return escaped.toString();
  }

  private @Nullable String complaint(
      OpenApi.Operation operation, boolean head, HttpTalk.Answer answer) {
    String wrong = common(answer);
    if (wrong != null) {
      return wrong;
    }
    String status = String.valueOf(answer.status());
    // a name or a number that is empty makes another path
    if (answer.status() == 404 && !operation.statuses().contains(status)) {
      return null;
    }
    if (!operation.statuses().contains(status) || NEVER.contains(status)) {
      return operation.method() + " " + operation.path() + " answers " + status;
    }
    if (head) {
      return null;
    }
    Map<String, Object> schema = api.answer(operation, answer.status());
    List<String> complaints =
        schema == null
            ? List.of("no schema")
            : api.complaints(schema, StrictJson.read(answer.body()), "$", new TreeSet<>());
    return complaints.isEmpty() ? null : complaints.toString();
  }

  private Wanted wanted(String method, Fate fate, Integer... statuses) {
    Set<Integer> right = Set.of(statuses);
    return new Wanted(
        method,
        fate,
        false,
        answer ->
            right.isEmpty() || right.contains(answer.status())
                ? common(answer)
                : "status " + answer.status() + " is none of " + right);
  }

  /** A good request whose answer says which one it was. */
  private void good(List<byte[]> requests, List<Wanted> wanted) {
    if (rarely(3)) {
      requests.add(request("HEAD", "/health/live", List.of(), new byte[0]));
      wanted.add(wanted("HEAD", Fate.SERVED, 200));
      return;
    }
    String name = "echo" + random.nextInt(1_000_000);
    boolean expects = rarely(4);
    requests.add(
        request(
            "GET",
            "/v1/locks/" + name,
            expects ? List.of("Expect: 100-continue") : List.of(),
            new byte[0]));
    wanted.add(
        new Wanted(
            "GET",
            Fate.SERVED,
            expects,
            answer ->
                answer.status() == 200 && answer.body().contains("\"lock\":\"" + name + "\"")
                    ? common(answer)
                    : "the answer is not for " + name));
  }

  /** Good requests behind each other, and one with a strange header among them. */
  private Conversation pages() {
    List<byte[]> requests = new ArrayList<>();
    List<Wanted> wanted = new ArrayList<>();
    for (int i = 1 + random.nextInt(rarely(10) ? 60 : 6); i > 0; i--) {
      if (rarely(2)) {
        good(requests, wanted);
      } else {
        String method = rarely(4) ? "HEAD" : "GET";
        List<String> headers = rarely(2) ? List.of(one(HEADERS)) : List.of();
        String page = one(PAGES);
        requests.add(request(method, page, headers, new byte[0]));
        // a look at the state does not wait for a long entry of the log
        boolean looks = page.startsWith("/console/state") || page.equals("/debug/state");
        wanted.add(
            looks ? wanted(method, Fate.SERVED, 200, 503) : wanted(method, Fate.SERVED, 200));
      }
    }
    return conversation("pages", requests, wanted);
  }

  /** Wrong methods and paths. */
  private Conversation paths() {
    List<byte[]> requests = new ArrayList<>();
    List<Wanted> wanted = new ArrayList<>();
    String method = rarely(3) ? one(METHODS) : "GET";
    String target = rarely(3) ? one(PAGES) : one(PATHS);
    byte[] body = rarely(4) ? smuggled().getBytes(ISO_8859_1) : new byte[0];
    requests.add(request(method, target, List.of(), body));
    wanted.add(wanted(method, Fate.EITHER));
    good(requests, wanted);
    return conversation("paths", requests, wanted);
  }

  private String smuggled() {
    String body = "{\"ttl\":\"1h\",\"owner\":\"" + SMUGGLED + "\"}";
    return "POST /v1/leases HTTP/1.1\r\nHost: "
        + host
        + "\r\nContent-Type: application/json\r\nContent-Length: "
        + body.length()
        + "\r\n\r\n"
        + body;
  }

  /** A head that leaves open where the request ends, and a request behind it. */
  private Conversation badFrame() {
    List<byte[]> requests = new ArrayList<>();
    List<Wanted> wanted = new ArrayList<>();
    if (rarely(3)) {
      good(requests, wanted);
    }
    if (rarely(3)) {
      oddFrame(requests, wanted);
    } else {
      boolean get = random.nextBoolean();
      requests.add(badFrame(get, rarely(3) ? one(HEADERS) : "X: y", one(BAD_FRAMES), one(BODIES)));
      wanted.add(wanted(get ? "GET" : "POST", Fate.REFUSED));
    }
    return conversation("bad frame", requests, wanted);
  }

  /** A request that would be served but for one line of its head, and another one behind it. */
  private byte[] badFrame(boolean get, String header, String bad, String body) {
    String first =
        get
            ? "GET /v1/leases HTTP/1.1"
            : "POST /v1/leases HTTP/1.1\r\nContent-Type: application/json";
    String head = first + "\r\nHost: " + host + "\r\n" + header + "\r\n" + bad + "\r\n\r\n";
    return (head + body + smuggled()).getBytes(ISO_8859_1);
  }

  /** Each of the ways in which a request may have no known end, whatever the seed. */
  List<Conversation> withoutAKnownEnd() {
    List<Conversation> all = new ArrayList<>();
    for (String bad : BAD_FRAMES) {
      for (String body : BODIES) {
        for (boolean get : new boolean[] {true, false}) {
          all.add(refused("bad frame", get, badFrame(get, "X: y", bad, body)));
        }
      }
    }
    for (String bad : BAD_HEADS) {
      String head = "POST /v1/leases " + bad.replace("HOST", host);
      all.add(refused("bad head", false, (head + smuggled()).getBytes(ISO_8859_1)));
    }
    for (String chunks : WRONG_CHUNKS) {
      all.add(
          refused(
              "chunks",
              false,
              (chunkedHead("chunked") + chunks + smuggled()).getBytes(ISO_8859_1)));
    }
    return all;
  }

  private Conversation refused(String kind, boolean get, byte[] sent) {
    return new Conversation(
        kind, List.of(sent), List.of(wanted(get ? "GET" : "POST", Fate.REFUSED)), Ending.READS);
  }

  private String chunkedHead(String coding) {
    return "POST /v1/leases HTTP/1.1\r\nHost: "
        + host
        + "\r\nContent-Type: application/json\r\nTransfer-Encoding: "
        + coding
        + "\r\n"
        + (rarely(4) ? "Expect: 100-continue\r\n" : "")
        + "\r\n";
  }

  /** A head that a reader may take or refuse, and that has one meaning alone. */
  private void oddFrame(List<byte[]> requests, List<Wanted> wanted) {
    String host = "Host: " + this.host + "\r\n";
    String head =
        switch (random.nextInt(16)) {
          case 0 -> "\nGET /health/live HTTP/1.1\r\n" + host + "\r\n";
          case 1 -> "GET /health/live HTTP/1.1\r\n" + host + "X: a\r\n b\r\n\r\n";
          case 2 -> "GET /health/live HTTP/1.1\r\n X: a\r\n" + host + "\r\n";
          case 3 -> "GET /health/live HTTP/1.1\r\n" + host + "X: a\rb\r\n\r\n";
          case 4 -> "GET /health/live HTTP/1.1\r\n" + host + "X: a\u0000b\r\n\r\n";
          case 5 -> "GET  /health/live  HTTP/1.1\r\n" + host + "\r\n";
          case 6 -> "GET\t/health/live\tHTTP/1.1\r\n" + host + "\r\n";
          case 7 -> "\r\n\r\nGET /health/live HTTP/1.1\r\n" + host + "\r\n";
          case 8 -> "GET /health/live HTTP/1.2\r\n" + host + "\r\n";
          case 9 -> "GET /health/live http/1.1\r\n" + host + "\r\n";
          case 10 -> "GET /health/live HTTP/2.0\r\n" + host + "\r\n";
          case 11 -> "GET /health/live HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
          case 12 -> "GET /health/live HTTP/1.1\r\n" + host + "Content-Length: 0, 0\r\n\r\n";
          case 13 -> "GET /health/live HTTP/1.1\r\n" + host + "Expect: everything\r\n\r\n";
          case 14 ->
              "POST /v1/leases HTTP/1.1\r\n"
                  + host
                  + "Content-Type: application/json\r\nX: a\rTransfer-Encoding: chunked\r\n"
                  + "Content-Length: 5\r\n\r\n0\r\n\r\n";
          default ->
              "POST /v1/leases HTTP/1.1\r\n"
                  + host
                  + "Content-Type: application/json\r\nTransfer-Encoding:\r\n chunked\r\n\r\n"
                  + "2\r\n{}\r\n0\r\n\r\n";
        };
    requests.add(head.getBytes(ISO_8859_1));
    wanted.add(wanted(head.startsWith("POST") ? "POST" : "GET", Fate.EITHER));
    good(requests, wanted);
  }

  /** Bodies in chunks, right ones and wrong ones, and a request behind them. */
  private Conversation chunks() {
    List<byte[]> requests = new ArrayList<>();
    List<Wanted> wanted = new ArrayList<>();
    String head = chunkedHead(one(List.of("chunked", "Chunked", "CHUNKED", "chunked ")));
    String body = LEASE;
    String size = SIZE;
    String right =
        switch (random.nextInt(6)) {
          case 0 -> size + "\r\n" + body + "\r\n0\r\n\r\n";
          case 1 ->
              "1\r\n{\r\n"
                  + "00"
                  + Integer.toHexString(body.length() - 1)
                  + "\r\n"
                  + body.substring(1)
                  + "\r\n000\r\n\r\n";
          case 2 -> size + ";a=b\r\n" + body + "\r\n0;c\r\n\r\n";
          case 3 -> size.toUpperCase(Locale.ROOT) + "\r\n" + body + "\r\n0\r\nX: y\r\n\r\n";
          case 4 -> size + "\r\n" + body + "\r\n0\r\nContent-Length: 99\r\n\r\n";
          default -> body.replaceAll("(?s)(.)", "1\r\n$1\r\n") + "0\r\n\r\n";
        };
    String wrong = one(WRONG_CHUNKS);
    boolean isRight = random.nextBoolean();
    byte[] sent = (head + (isRight ? right : wrong + smuggled())).getBytes(ISO_8859_1);
    requests.add(sent);
    wanted.add(
        new Wanted(
            "POST",
            isRight ? Fate.SERVED : Fate.REFUSED,
            true,
            answer ->
                isRight && answer.status() != 201 ? "status " + answer.status() : common(answer)));
    if (isRight) {
      good(requests, wanted);
    }
    return conversation("chunks", requests, wanted);
  }

  /** Heads and bodies at their limits, and beyond. */
  private Conversation large() {
    List<byte[]> requests = new ArrayList<>();
    List<Wanted> wanted = new ArrayList<>();
    switch (random.nextInt(8)) {
      case 0 -> {
        requests.add(
            request("GET", "/health/live", List.of("X: " + "y".repeat(20_000)), new byte[0]));
        wanted.add(wanted("GET", Fate.REFUSED, 431));
      }
      case 1 -> {
        requests.add(request("GET", "/" + "x".repeat(20_000), List.of(), new byte[0]));
        wanted.add(wanted("GET", Fate.REFUSED, 400, 431));
      }
      case 2 -> {
        List<String> headers = new ArrayList<>();
        int count = 45 + random.nextInt(10);
        for (int i = 0; i < count; i++) {
          headers.add("X-" + i + ": " + i);
        }
        requests.add(request("GET", "/health/live", headers, new byte[0]));
        wanted.add(wanted("GET", count < 50 ? Fate.SERVED : Fate.REFUSED, count < 50 ? 200 : 431));
      }
      case 3 -> {
        String ttl = "{\"ttl\":1000}";
        byte[] body = (" ".repeat((1 << 20) - ttl.length()) + ttl).getBytes(ISO_8859_1);
        requests.add(
            request("POST", "/v1/leases", List.of("Content-Type: application/json"), body));
        wanted.add(wanted("POST", Fate.SERVED, 201));
        good(requests, wanted);
      }
      case 4 -> {
        byte[] body = (" ".repeat(1 << 20) + smuggled()).getBytes(ISO_8859_1);
        requests.add(request("POST", "/v1/sql", List.of("Content-Type: application/json"), body));
        wanted.add(wanted("POST", Fate.REFUSED, 413));
      }
      case 5 -> {
        byte[] body = smuggled().repeat(1 + random.nextInt(9_000)).getBytes(ISO_8859_1);
        requests.add(request("PUT", "/nowhere", List.of(), body));
        wanted.add(wanted("PUT", Fate.EITHER, 404));
      }
      case 6 -> {
        byte[] deep = "[".repeat(1 + random.nextInt(1 << 20)).getBytes(ISO_8859_1);
        requests.add(request("POST", "/v1/sql", List.of("Content-Type: application/json"), deep));
        wanted.add(wanted("POST", Fate.SERVED, 400));
        good(requests, wanted);
      }
      default -> {
        for (int i = 200 + random.nextInt(1_000); i > 0; i--) {
          requests.add("GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(ISO_8859_1));
          wanted.add(wanted("GET", Fate.SERVED, 200));
        }
      }
    }
    return conversation("large", requests, wanted);
  }

  /** Hosts, origins and versions. */
  private Conversation heads() {
    List<byte[]> requests = new ArrayList<>();
    List<Wanted> wanted = new ArrayList<>();
    String get = "GET /v1/leases HTTP/1.1\r\n";
    switch (random.nextInt(7)) {
      case 0 -> add(requests, wanted, get + "\r\n", Fate.REFUSED, 400);
      case 1 -> add(requests, wanted, get + "Host: a\r\nHost: a\r\n\r\n", Fate.REFUSED, 400);
      case 2 -> add(requests, wanted, get + "Host: evil.example\r\n\r\n", Fate.SERVED, 403);
      case 3 ->
          add(requests, wanted, get + "Host: localhost.evil.example\r\n\r\n", Fate.SERVED, 403);
      case 4 -> add(requests, wanted, get + "Host: \r\n\r\n", Fate.EITHER, 400, 403);
      case 5 ->
          add(
              requests,
              wanted,
              get + "Host: localhost@evil.example:80\r\n\r\n",
              Fate.EITHER,
              400,
              403);
      default -> {
        byte[] body = ("{\"owner\":\"" + SMUGGLED + "\"}").getBytes(ISO_8859_1);
        String origin =
            one(List.of("http://evil.example", "null", "https://" + host + ".evil", "x"));
        requests.add(
            request(
                "POST",
                "/v1/leases",
                List.of("Content-Type: application/json", "Origin: " + origin),
                body));
        wanted.add(wanted("POST", Fate.EITHER, 403));
      }
    }
    return conversation("heads", requests, wanted);
  }

  private void add(
      List<byte[]> requests, List<Wanted> wanted, String request, Fate fate, Integer... statuses) {
    requests.add(request.getBytes(ISO_8859_1));
    wanted.add(wanted("GET", fate, statuses));
  }

  /** Good requests of which some bytes are changed: whatever they mean, each answer is whole. */
  private Conversation mutated() {
    List<byte[]> requests = new ArrayList<>();
    List<Wanted> ignored = new ArrayList<>();
    for (int i = 1 + random.nextInt(3); i > 0; i--) {
      describedRequest(requests, ignored);
    }
    byte[] all = {};
    for (byte[] request : requests) {
      all = joined(all, request);
    }
    return conversation("mutated", List.of(messages.mutated(all)), List.of(), Ending.HALF);
  }

  /** Other protocols, and noise. */
  private Conversation noHttp() {
    byte[] noise = new byte[1 + random.nextInt(3_000)];
    random.nextBytes(noise);
    byte[] sent =
        switch (random.nextInt(7)) {
          case 0 -> new byte[] {22, 3, 1, 0, (byte) 200, 1, 0, 0, (byte) 196, 3, 3};
          case 1 -> "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(ISO_8859_1);
          case 2 -> "GET /metrics\r\n".getBytes(ISO_8859_1);
          case 3 -> "\r\n".repeat(1 + random.nextInt(9_000)).getBytes(ISO_8859_1);
          case 4 -> "EHLO there\r\nQUIT\r\n".getBytes(ISO_8859_1);
          case 5 -> new byte[1 + random.nextInt(40_000)];
          default -> noise;
        };
    return conversation("no HTTP", List.of(sent), List.of(), Ending.HALF);
  }

  private Conversation streams() {
    return conversation(
        "streams",
        List.of(
            request("GET", "/console/events", List.of("Accept: text/event-stream"), new byte[0])),
        List.of(),
        Ending.STREAMS);
  }

  /** A good request that is cut, or whose answer nobody reads. */
  private Conversation abandoned() {
    List<byte[]> requests = new ArrayList<>();
    List<Wanted> ignored = new ArrayList<>();
    if (rarely(2)) {
      String wait = "{\"ttl\":\"60s\",\"wait\":\"30s\"}";
      requests.add(
          request(
              "POST",
              "/v1/locks/job",
              List.of("Content-Type: application/json"),
              wait.getBytes(UTF_8)));
    } else {
      describedRequest(requests, ignored);
    }
    byte[] all = requests.get(0);
    // a client that stays has no whole request, whose wait would be its right
    Ending ending = rarely(4) ? Ending.STAYS : Ending.LEAVES;
    boolean whole = ending == Ending.LEAVES && rarely(2);
    byte[] sent = whole ? all : Arrays.copyOf(all, random.nextInt(all.length));
    return conversation("abandoned", List.of(sent), List.of(), ending);
  }
}
