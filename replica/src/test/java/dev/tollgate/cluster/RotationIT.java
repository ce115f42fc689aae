package dev.tollgate.cluster;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.tls.Pem;
import dev.tollgate.tls.TestCertificates;
import dev.tollgate.tls.TlsCredentials;
import dev.tollgate.tls.TlsFiles;
import dev.tollgate.tls.TlsMode;
import dev.tollgate.tls.TlsSocket;
import dev.tollgate.tls.TlsVersion;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.X509Certificate;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Nodes and clients in processes of their own, whose certificates are replaced while they work. One
 * process of clients logs in with its certificate, the other one with a password.
 */
@Tag("nightly")
class RotationIT {
  private static final List<String> NODES = List.of("n1", "n2", "n3");
  private static final String USER = "worker";
  private static final String FORMER = "former";
  private static final int PROCESSES = 2;
  private static final int CLIENTS_EACH = 8;
  private static final long LOAD_SECONDS = Long.getLong("tollgate.rotation.seconds", 9);

  /** Drivers and nodes look at their files once a second. */
  private static final Duration NOTICED = Duration.ofMillis(1_500);

  @TempDir Path directory;
  private Path authority;
  private ClusterProcesses cluster;
  private final List<Process> clients = new ArrayList<>();

  @BeforeEach
  void startCluster() throws Exception {
    authority = directory.resolve("authority");
    Files.writeString(directory.resolve("admin.password"), "the administrator's\n");
    Files.writeString(directory.resolve("worker.password"), "the worker's\n");
    certificates("--node=n1=127.0.0.1", "--node=n2=127.0.0.1", "--node=n3=127.0.0.1");
    certificates("--user=" + USER);
    NODES.forEach(this::deploy);
    NODES.forEach(this::deployRevocations);
    deploy(USER);
    Path node = deployed(ClusterProcesses.ID);
    cluster =
        new ClusterProcesses(
            "RotationIT",
            directory,
            NODES.size(),
            "--tls-certificate=" + node.resolve("own.crt"),
            "--tls-key=" + node.resolve("own.key"),
            "--tls-trust=" + node.resolve("ca.crt"),
            "--tls-crl=" + node.resolve("crl.pem"),
            "--certificate-login",
            "--admin-password-file=" + directory.resolve("admin.password"));
  }

  @AfterEach
  void stopAll() {
    clients.forEach(Process::destroyForcibly);
    if (cluster != null) {
      cluster.close();
    }
  }

  private void certificates(String... options) throws Exception {
    String[] words = new String[options.length + 2];
    words[0] = "certificates";
    words[1] = authority.toString();
    System.arraycopy(options, 0, words, 2, options.length);
    Program program = Program.run(words);
    assertEquals(0, program.status(), program.err());
  }

  /** Where the files of a node, or of the clients, are. */
  private Path deployed(String owner) {
    return directory.resolve("deployed").resolve(owner);
  }

  /** Gives a node or the clients the files that are theirs now, one by one, by renaming. */
  private void deploy(String owner) {
    replace(owner, owner + ".key", "own.key");
    replace(owner, owner + ".crt", "own.crt");
    replace(owner, "ca.crt", "ca.crt");
  }

  private void deployRevocations(String owner) {
    replace(owner, "crl.pem", "crl.pem");
  }

  private void replace(String owner, String from, String to) {
    try {
      Path folder = Files.createDirectories(deployed(owner));
      Path fresh = folder.resolve(to + ".new");
      Files.copy(authority.resolve(from), fresh);
      Files.move(
          fresh,
          folder.resolve(to),
          StandardCopyOption.ATOMIC_MOVE,
          StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private String url(String login) {
    return cluster.url("failoverTimeout=60s&sslRootCert=" + authority.resolve("ca.crt") + login);
  }

  private String withCertificate(String owner) {
    Path folder = deployed(owner);
    return "&sslCert=" + folder.resolve("own.crt") + "&sslKey=" + folder.resolve("own.key");
  }

  private String withPassword(String user) {
    return "&user=" + user + "&passwordFile=" + directory.resolve(user + ".password");
  }

  private void createTable(Connection administrator) throws SQLException, IOException {
    try (Statement statement = administrator.createStatement();
        PreparedStatement create =
            administrator.prepareStatement("CREATE USER " + USER + " PASSWORD ?")) {
      create.setString(1, Files.readString(directory.resolve("worker.password")).strip());
      create.execute();
      statement.execute(RotationClients.TABLE);
      for (int i = 0; i < PROCESSES * CLIENTS_EACH; i++) {
        statement.execute("INSERT INTO DONE VALUES(" + i + ", 0)");
      }
      statement.execute("GRANT SELECT, UPDATE ON DONE TO " + USER);
      statement.execute("GRANT LOCK ON '" + RotationClients.LOCKS + "' TO " + USER);
    }
  }

  private void startClients(String login) throws IOException {
    int number = clients.size();
    clients.add(
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                RotationClients.class.getName(),
                url(login),
                Integer.toString(number * CLIENTS_EACH),
                Integer.toString(CLIENTS_EACH))
            .redirectOutput(out(number).toFile())
            .redirectError(directory.resolve("clients" + number + ".err").toFile())
            .start());
  }

  private Path out(int process) {
    return directory.resolve("clients" + process + ".out");
  }

  /**
   * How far a process is: cycles, connections opened, and milliseconds of the slowest cycle. Fails
   * if one of its clients has.
   */
  private long[] progress(int process) throws IOException {
    long[] last = {0, 0, 0};
    for (String line : Files.readAllLines(out(process))) {
      assertTrue(!line.startsWith(RotationClients.FAILED), line);
      String[] words = line.split(" ", -1);
      if (words.length == 4) {
        last = Stream.of(words).skip(1).mapToLong(Long::parseLong).toArray();
      }
    }
    return last;
  }

  /** Waits until the clients of each process have worked and connected again. */
  private void awaitWork() throws IOException {
    for (int i = 0; i < PROCESSES; i++) {
      int process = i;
      long[] before = progress(process);
      await()
          .atMost(ClusterProcesses.DEADLINE)
          .until(
              () -> {
                long[] now = progress(process);
                return now[0] >= before[0] + 5 * CLIENTS_EACH
                    && now[1] >= before[1] + 3 * CLIENTS_EACH;
              });
    }
  }

  private X509Certificate issued(String name) throws IOException {
    return Pem.certificates(authority.resolve(name + ".crt")).get(0);
  }

  private X509Certificate shown(String id) throws IOException {
    TlsFiles files =
        new TlsFiles(null, null, null, null, null, authority.resolve("ca.crt"), /* crl= */ null);
    TlsCredentials trust =
        new TlsCredentials(files, TlsVersion.TLS_1_3, new TestCertificates.Events());
    try (Socket socket =
        new Socket(InetAddress.getLoopbackAddress(), cluster.clientPort(cluster.node(id)))) {
      return TlsSocket.handshake(
              socket, trust.clientEngine(TlsMode.VERIFY_FULL, "127.0.0.1", 1), id, 10_000)
          .peerCertificate();
    }
  }

  /** Replaces all certificates; returns those that the nodes had, by node. */
  private Map<String, X509Certificate> rotate() throws Exception {
    Map<String, X509Certificate> former = new HashMap<>();
    for (String id : NODES) {
      former.put(id, shown(id));
      assertEquals(issued(id), former.get(id), id);
    }
    certificates("--renew");
    deploy(USER);
    NODES.forEach(this::deploy);
    for (String id : NODES) {
      await().atMost(ClusterProcesses.DEADLINE).until(() -> issued(id).equals(shown(id)));
    }
    return former;
  }

  private boolean isAdmitted(String login) {
    try (Connection connection = DriverManager.getConnection(url(login))) {
      return connection.isValid(0);
    } catch (SQLException e) {
      return false;
    }
  }

  private static String single(Connection connection, String query) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(query)) {
      assertTrue(row.next());
      return row.getString(1);
    }
  }

  private NodeProcess follower(Connection administrator) throws SQLException {
    return cluster.node(
        single(
            administrator, "SELECT MIN(NODE_ID) FROM TOLLGATE.NODES WHERE NODE_ROLE = 'FOLLOWER'"));
  }

  @Test
  void certificatesAreReplacedTwiceAndNoStatementFails() throws Exception {
    try (Connection administrator = DriverManager.getConnection(url(withPassword("admin")))) {
      createTable(administrator);
      startClients(withCertificate(USER));
      startClients(withPassword(USER));
      awaitWork();
      long begun = System.nanoTime();
      Map<String, X509Certificate> first = rotate();
      awaitWork();
      awaitLoad(begun, 1);

      // the second time, the certificate that the clients had so far is revoked in the end
      replace(FORMER, USER + ".key", "own.key");
      replace(FORMER, USER + ".crt", "own.crt");
      certificates("--revoke=" + USER);
      Map<String, X509Certificate> second = rotate();
      NODES.forEach(id -> assertNotEquals(first.get(id), second.get(id), id));
      await().pollDelay(NOTICED).until(() -> true);
      assertTrue(isAdmitted(withCertificate(FORMER)));
      NODES.forEach(this::deployRevocations);
      await().atMost(ClusterProcesses.DEADLINE).until(() -> !isAdmitted(withCertificate(FORMER)));
      awaitWork();
      awaitLoad(begun, 2);

      // a node that starts now has only new certificates to meet the others with
      NodeProcess follower = follower(administrator);
      follower.kill();
      follower.startAndAwait();
      awaitWork();
      awaitLoad(begun, 3);
      long cycles = endClients();
      assertEquals(Long.toString(cycles), single(administrator, "SELECT SUM(N) FROM DONE"));
    }
  }

  private static void awaitLoad(long begun, int thirds) {
    long nanos = TimeUnit.SECONDS.toNanos(LOAD_SECONDS) * thirds / 3;
    await()
        .atMost(Duration.ofSeconds(LOAD_SECONDS).plus(ClusterProcesses.DEADLINE))
        .until(() -> System.nanoTime() - begun >= nanos);
  }

  private long endClients() throws Exception {
    long cycles = 0;
    for (int i = 0; i < PROCESSES; i++) {
      clients.get(i).getOutputStream().close();
      assertTrue(
          clients.get(i).waitFor(ClusterProcesses.DEADLINE.toSeconds(), TimeUnit.SECONDS),
          "clients do not end");
      List<String> lines = Files.readAllLines(out(i));
      assertTrue(lines.get(lines.size() - 1).startsWith("ended "), lines.toString());
      long[] done = progress(i);
      System.out.printf(
          "process %d: %d cycles, %d connections, slowest cycle %d ms, 0 failures%n",
          i + 1, done[0], done[1], done[2]);
      cycles += done[0];
    }
    return cycles;
  }
}
