package dev.tollgate.distribution.containers;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.Socket;
import java.net.URI;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/** A probe as the manifest has it, asked from outside of the pod, as a kubelet asks. */
final class Probe {
  private static final SSLContext ANY_CERTIFICATE = anyCertificate();
  private static final int FIRST_BAD_STATUS = 400;

  private final String path;
  private final String scheme;
  private final int port;
  private final Duration delay;
  private final Duration period;
  private final Duration timeout;
  private final int failures;
  private final int successes;

  /**
   * @param ports of the container by their names
   */
  private Probe(Fields probe, Map<String, Integer> ports) {
    Fields get = probe.part("httpGet");
    String at = get.text("port");
    this.path = get.text("path");
    this.scheme = get.optionalText("scheme").orElse("HTTP");
    this.port = ports.containsKey(at) ? ports.get(at) : Integer.parseInt(at);
    this.delay = Duration.ofSeconds(probe.number("initialDelaySeconds", 0));
    this.period = Duration.ofSeconds(probe.number("periodSeconds", 10));
    this.timeout = Duration.ofSeconds(probe.number("timeoutSeconds", 1));
    this.failures = probe.number("failureThreshold", 3);
    this.successes = probe.number("successThreshold", 1);
  }

  static Optional<Probe> of(Fields container, String name, Map<String, Integer> ports) {
    return container.has(name)
        ? Optional.of(new Probe(container.part(name), ports))
        : Optional.empty();
  }

  Duration delay() {
    return delay;
  }

  Duration period() {
    return period;
  }

  /** How many failures in a row are too many. */
  int failures() {
    return failures;
  }

  /** How many successes in a row are enough. */
  int successes() {
    return successes;
  }

  /** Asks once; empty if that succeeds, else why it does not. */
  Optional<String> ask(String address) {
    String url = scheme.toLowerCase(Locale.ROOT) + "://" + address + ":" + port + path;
    try {
      var connection = (HttpURLConnection) URI.create(url).toURL().openConnection();
      if (connection instanceof HttpsURLConnection https) {
        https.setSSLSocketFactory(ANY_CERTIFICATE.getSocketFactory());
        https.setHostnameVerifier((host, session) -> true);
      }
      connection.setConnectTimeout((int) timeout.toMillis());
      connection.setReadTimeout((int) timeout.toMillis());
      connection.setRequestProperty("Connection", "close");
      int status = connection.getResponseCode();
      connection.disconnect();
      return status < FIRST_BAD_STATUS
          ? Optional.empty()
          : Optional.of(url + " answers with " + status);
    } catch (IOException e) {
      return Optional.of(url + ": " + e);
    }
  }

  /** A kubelet does not check certificates. */
  private static SSLContext anyCertificate() {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, new TrustManager[] {new TrustEverybody()}, new SecureRandom());
      return context;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static final class TrustEverybody extends X509ExtendedTrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
