package dev.tollgate.node.login;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.tollgate.tls.TestCertificates;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** An identity provider on this host: signs tokens, and serves its keys over TLS. */
public final class TestIssuer implements AutoCloseable {
  public static final String NAME = "https://id.example.org/";
  private static final char[] PASSWORD = "changeit".toCharArray();

  private final HttpsServer server;
  private final SSLContext context;
  final AtomicInteger requests = new AtomicInteger();
  volatile int status = 200;
  volatile String keys = "";
  private volatile ECKey key;
  private volatile CountDownLatch answering = new CountDownLatch(0);

  public TestIssuer(TestCertificates certificates, Path directory) throws Exception {
    changeKey("k1");
    Path store = directory.resolve("issuer.p12");
    TestCertificates.writeStore(
        store,
        certificates.authority.node("issuer", List.of("127.0.0.1"), TestCertificates.now()),
        certificates.authority,
        PASSWORD);
    context = context(store);
    server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(context));
    server.createContext(
        "/keys",
        exchange -> {
          requests.incrementAndGet();
          exchange.sendResponseHeaders(status, 0);
          try (OutputStream body = exchange.getResponseBody()) {
            // each part comes in time
            while (answering.getCount() > 0) {
              body.write(' ');
              body.flush();
              LockSupport.parkNanos(Drip.PAUSE_NANOS);
            }
            body.write(keys.getBytes(StandardCharsets.UTF_8));
          }
        });
    server.start();
  }

  private static SSLContext context(Path file) throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      store.load(in, PASSWORD);
    }
    KeyManagerFactory managers =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(store, PASSWORD);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(managers.getKeyManagers(), null, null);
    return context;
  }

  /** Has no answer of the server come to its end, until {@link #answer}. */
  public void hang() {
    answering = new CountDownLatch(1);
  }

  public void answer() {
    answering.countDown();
  }

  /** How many requests for keys have come. */
  public int requests() {
    return requests.get();
  }

  /** Signs with a new key from now on, which the server shows. */
  public void changeKey(String id) throws JOSEException {
    key = new ECKeyGenerator(Curve.P_256).keyID(id).generate();
    keys = new JWKSet(key.toPublicJWK()).toString();
  }

  public URI address() {
    return URI.create("https://127.0.0.1:" + server.getAddress().getPort() + "/keys");
  }

  /** A token for the audience "tollgate". */
  public String token(String subject, Instant until) throws JOSEException {
    SignedJWT jwt =
        new SignedJWT(
            new JWSHeader.Builder(JWSAlgorithm.ES256).keyID(key.getKeyID()).build(),
            new JWTClaimsSet.Builder()
                .issuer(NAME)
                .audience("tollgate")
                .subject(subject)
                .expirationTime(Date.from(until))
                .build());
    jwt.sign(new ECDSASigner(key));
    return jwt.serialize();
  }

  /** Begins to listen for one client, to which it answers without an end. */
  Drip drip() throws IOException {
    Drip drip = new Drip(context.getServerSocketFactory().createServerSocket());
    drip.socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    drip.thread.setDaemon(true);
    drip.thread.start();
    return drip;
  }

  /** A server that sends a byte of a header again and again. */
  static final class Drip implements AutoCloseable {
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final ServerSocket socket;
    private final CountDownLatch begun = new CountDownLatch(1);
    private final Thread thread = new Thread(this::run, "drip");

    private Drip(ServerSocket socket) {
      this.socket = socket;
    }

    URI address() {
      return URI.create("https://127.0.0.1:" + socket.getLocalPort() + "/keys");
    }

    CountDownLatch begun() {
      return begun;
    }

    private void run() {
      try (Socket client = socket.accept()) {
        OutputStream out = client.getOutputStream();
        out.write("HTTP/1.1 200 OK\r\nX: ".getBytes(StandardCharsets.UTF_8));
        while (true) {
          out.write('x');
          out.flush();
          begun.countDown();
          LockSupport.parkNanos(PAUSE_NANOS);
        }
      } catch (IOException e) {
        // the client is gone, or the test is over
      }
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  @Override
  public void close() {
    answer();
    server.stop(0);
  }
}
