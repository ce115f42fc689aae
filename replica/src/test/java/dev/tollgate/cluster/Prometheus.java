package dev.tollgate.cluster;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.yaml.snakeyaml.Yaml;

/** A real Prometheus on loopback. */
final class Prometheus implements AutoCloseable {
  private static final Path PROGRAM = Path.of("/usr/bin/prometheus");
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final HttpClient client = HttpClient.newHttpClient();
  private final Process process;
  private final String url;
  private final Path log;

  /** Skips the test where there is no Prometheus. */
  static void assumeInstalled() {
    assumeTrue(
        Files.isExecutable(PROGRAM), "Prometheus is not installed: Debian's package prometheus");
  }

  Prometheus(Path directory, Path configuration) throws IOException {
    int port = Ports.free();
    url = "http://127.0.0.1:" + port;
    log = directory.resolve("prometheus.log");
    process =
        new ProcessBuilder(
                PROGRAM.toString(),
                "--config.file=" + configuration,
                "--storage.tsdb.path=" + directory.resolve("tsdb"),
                "--web.listen-address=127.0.0.1:" + port)
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    try {
      await()
          .atMost(ClusterProcesses.DEADLINE)
          .ignoreExceptions()
          .failFast("Prometheus has ended: " + log, () -> !process.isAlive())
          .until(() -> get("/-/ready").statusCode() == 200);
    } catch (RuntimeException | Error e) {
      process.destroyForcibly();
      throw e;
    }
  }

  private HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return client.send(
        HttpRequest.newBuilder(URI.create(url + path)).timeout(PATIENCE).build(),
        HttpResponse.BodyHandlers.ofString());
  }

  /** The field data of an answer that must be a success. */
  Map<String, Object> data(String path) throws IOException, InterruptedException {
    HttpResponse<String> answer = get(path);
    assertEquals(200, answer.statusCode(), () -> path + ": " + answer.body());
    Map<String, Object> all = new Yaml().load(answer.body());
    assertEquals("success", all.get("status"), answer.body());
    return map(all.get("data"));
  }

  /** The values of an expression by their labels, which are in the order of their names. */
  Map<Map<String, String>, String> query(String expression)
      throws IOException, InterruptedException {
    String path = "/api/v1/query?query=" + URLEncoder.encode(expression, StandardCharsets.UTF_8);
    Map<Map<String, String>, String> values = new LinkedHashMap<>();
    for (Map<String, Object> sample : maps(data(path).get("result"))) {
      Map<String, String> labels = new TreeMap<>();
      map(sample.get("metric")).forEach((name, value) -> labels.put(name, value.toString()));
      values.put(labels, ((List<?>) sample.get("value")).get(1).toString());
    }
    return values;
  }

  /** An object of JSON. */
  @SuppressWarnings("unchecked")
  static Map<String, Object> map(Object json) {
    return (Map<String, Object>) json;
  }

  /** An array of objects. */
  @SuppressWarnings("unchecked")
  static List<Map<String, Object>> maps(Object json) {
    return (List<Map<String, Object>>) json;
  }

  @Override
  public void close() {
    process.destroyForcibly();
    process.onExit().join();
  }
}
