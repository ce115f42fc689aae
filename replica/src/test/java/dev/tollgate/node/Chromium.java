package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tollgate.node.json.JsonText;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A headless Chromium with one page, which tests drive by its DevTools protocol. Texts of pages
 * come encoded as in an address, so that nothing here has to parse JSON.
 */
final class Chromium implements AutoCloseable {
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final List<Path> PROGRAMS =
      List.of(
          Path.of("/usr/bin/chromium"),
          Path.of("/usr/bin/chromium-browser"),
          Path.of("/usr/bin/google-chrome"));
  private static final Pattern PORT = Pattern.compile("ws://([^/]+)/devtools");
  private static final Pattern ID = Pattern.compile("^\\{\"id\":(\\d+)");
  private static final Pattern TARGET = Pattern.compile("\"targetId\":\"([0-9A-F]+)\"");
  private static final Pattern SESSION = Pattern.compile("\"sessionId\":\"([0-9A-F]+)\"");
  private static final Pattern VALUE = Pattern.compile("\"value\":\"([^\"]*)\"");
  private static final Pattern DATA = Pattern.compile("\"data\":\"([^\"]*)\"");

  /** An expression that failed, as it may while another page is loaded. */
  private static final class FailedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    FailedException(String message) {
      super(message);
    }
  }

  private final Process process;
  private final WebSocket socket;
  private final AtomicLong calls = new AtomicLong();
  private final Map<Long, CompletableFuture<String>> answers = new ConcurrentHashMap<>();
  private String session = "";

  private Chromium(Process process, URI address) {
    this.process = process;
    this.socket =
        HttpClient.newHttpClient()
            .newWebSocketBuilder()
            .buildAsync(address, new Answers())
            .orTimeout(DEADLINE.toMillis(), TimeUnit.MILLISECONDS)
            .join();
  }

  /** Starts Chromium with a directory of its own, or skips the test where there is none. */
  static Chromium start(Path profile) throws IOException {
    Path program =
        PROGRAMS.stream().filter(Files::isExecutable).findFirst().orElse(PROGRAMS.get(0));
    assumeTrue(Files.isExecutable(program), "Chromium is not installed: Debian's package chromium");
    Process process =
        new ProcessBuilder(
                program.toString(),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--no-first-run",
                "--hide-scrollbars",
                "--user-data-dir=" + profile.resolve("profile"),
                "--remote-debugging-port=0",
                "about:blank")
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(profile.resolve("err").toFile())
            .start();
    try {
      return new Chromium(process, address(process, profile.resolve("err")));
    } catch (RuntimeException | Error e) {
      process.destroyForcibly();
      throw e;
    }
  }

  private static URI address(Process process, Path err) {
    return await("Chromium says where it listens")
        .pollInterval(Duration.ofMillis(20))
        .atMost(DEADLINE)
        .failFast("Chromium has ended", () -> !process.isAlive())
        .until(() -> listening(err), found -> found.getHost() != null);
  }

  private static URI listening(Path err) throws IOException {
    try (BufferedReader lines = Files.newBufferedReader(err, StandardCharsets.ISO_8859_1)) {
      String line = lines.readLine();
      while (line != null) {
        Matcher found = PORT.matcher(line);
        if (found.find()) {
          return URI.create(line.substring(found.start()).trim());
        }
        line = lines.readLine();
      }
    }
    return URI.create("about:blank");
  }

  private final class Answers implements WebSocket.Listener {
    private final StringBuilder text = new StringBuilder();

    @Override
    public CompletionStage<?> onText(WebSocket from, CharSequence part, boolean last) {
      text.append(part);
      if (last) {
        Matcher id = ID.matcher(text);
        CompletableFuture<String> answer =
            id.find() ? answers.remove(Long.parseLong(id.group(1))) : null;
        if (answer != null) {
          answer.complete(text.toString());
        }
        text.setLength(0);
      }
      from.request(1);
      return CompletableFuture.completedFuture(null);
    }
  }

  /** Opens a new page, with nothing that pages before it knew: logins, storage. */
  void open(String address, int width, int height, boolean dark) {
    String context =
        find(
            Pattern.compile("\"browserContextId\":\"([0-9A-F]+)\""),
            call("", "Target.createBrowserContext", "\"disposeOnDetach\":true"));
    String target =
        find(
            TARGET,
            call(
                "",
                "Target.createTarget",
                "\"url\":\"about:blank\",\"browserContextId\":\"" + context + "\""));
    session =
        find(
            SESSION,
            call("", "Target.attachToTarget", "\"flatten\":true,\"targetId\":\"" + target + "\""));
    show(width, height, dark);
    go(address);
  }

  /** Another page in the same tab. */
  void go(String address) {
    call(session, "Page.navigate", "\"url\":" + JsonText.quoted(address));
  }

  /** Sets the size of the window in pixels, and the colors that the system prefers. */
  void show(int width, int height, boolean dark) {
    call(
        session,
        "Emulation.setDeviceMetricsOverride",
        "\"deviceScaleFactor\":1,\"mobile\":false,\"width\":" + width + ",\"height\":" + height);
    call(
        session,
        "Emulation.setEmulatedMedia",
        "\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\""
            + (dark ? "dark" : "light")
            + "\"}]");
  }

  /** The value of an expression, as text; of a promise, what it ends with. */
  String evaluate(String expression) {
    String answer =
        call(
            session,
            "Runtime.evaluate",
            "\"awaitPromise\":true,\"returnByValue\":true,\"userGesture\":true,\"expression\":"
                + JsonText.quoted(
                    "(async () => encodeURIComponent(String(await (" + expression + "))))()"));
    Matcher value = VALUE.matcher(answer);
    if (answer.contains("\"exceptionDetails\"") || !value.find()) {
      throw new FailedException(expression + " failed: " + answer);
    }
    return URLDecoder.decode(value.group(1), StandardCharsets.UTF_8);
  }

  /** Waits until an expression is true, on the page that is loaded then. */
  void awaitTrue(String expression) {
    await(expression)
        .pollInterval(Duration.ofMillis(25))
        .atMost(DEADLINE)
        .ignoreException(FailedException.class)
        .until(() -> evaluate("Boolean(" + expression + ")").equals("true"));
  }

  /** The text of the page as a reader sees it. */
  String text() {
    return evaluate("document.body.innerText");
  }

  /** Clicks in the middle of an element, as a mouse does. */
  void click(String selector) {
    String[] middle =
        evaluate(
                "(() => { const e = document.querySelector("
                    + JsonText.quoted(selector)
                    + "); e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect();"
                    + " return (r.x + r.width / 2) + ' ' + (r.y + r.height / 2); })()")
            .split(" ", -1);
    for (String type : List.of("mousePressed", "mouseReleased")) {
      call(
          session,
          "Input.dispatchMouseEvent",
          "\"button\":\"left\",\"clickCount\":1,\"type\":\""
              + type
              + "\",\"x\":"
              + middle[0]
              + ",\"y\":"
              + middle[1]);
    }
  }

  /** Presses a key, such as Escape, or one that writes a character. */
  void press(String key) {
    String text = key.length() == 1 ? ",\"text\":" + JsonText.quoted(key) : "";
    int code = key.equals("Escape") ? 27 : key.equals("Enter") ? 13 : 0;
    String keys = "\"key\":" + JsonText.quoted(key) + ",\"windowsVirtualKeyCode\":" + code;
    call(session, "Input.dispatchKeyEvent", "\"type\":\"keyDown\"," + keys + text);
    call(session, "Input.dispatchKeyEvent", "\"type\":\"keyUp\"," + keys);
  }

  /** Writes a picture of the whole page. */
  void picture(Path file) throws IOException {
    String answer =
        call(
            session, "Page.captureScreenshot", "\"format\":\"png\",\"captureBeyondViewport\":true");
    Files.createDirectories(file.getParent());
    Files.write(file, Base64.getDecoder().decode(find(DATA, answer)));
  }

  private String call(String to, String method, String parameters) {
    long id = calls.incrementAndGet();
    CompletableFuture<String> answer = new CompletableFuture<>();
    answers.put(id, answer);
    socket
        .sendText(
            "{\"id\":"
                + id
                + (to.isEmpty() ? "" : ",\"sessionId\":\"" + to + "\"")
                + ",\"method\":\""
                + method
                + "\",\"params\":{"
                + parameters
                + "}}",
            /* last= */ true)
        .join();
    String text = answer.orTimeout(DEADLINE.toMillis(), TimeUnit.MILLISECONDS).join();
    if (text.startsWith("{\"id\":" + id + ",\"error\"")) {
      throw new FailedException(method + " failed: " + text);
    }
    return text;
  }

  private static String find(Pattern pattern, String text) {
    Matcher found = pattern.matcher(text);
    if (!found.find()) {
      throw new AssertionError(pattern + " in " + text);
    }
    return found.group(1);
  }

  @Override
  public void close() {
    try {
      var unused = call("", "Browser.close", "");
      process.onExit().orTimeout(PATIENCE.toMillis(), TimeUnit.MILLISECONDS).join();
    } catch (CompletionException e) {
      // it is ended below
    }
    socket.abort();
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
    process.onExit().orTimeout(DEADLINE.toMillis(), TimeUnit.MILLISECONDS).join();
  }
}
