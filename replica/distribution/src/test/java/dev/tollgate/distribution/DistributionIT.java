package dev.tollgate.distribution;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The archive has what an operator needs, is the same whoever builds it, and runs. */
class DistributionIT {
  private static final Path ARCHIVE = Path.of(System.getProperty("tollgate.archive"));
  private static final Instant BUILT = Instant.parse(System.getProperty("tollgate.built"));
  private static final int BLOCK = 512;

  /** What the start script and the hook of a pod read. */
  private static final Set<String> NOT_OF_A_SERVER =
      Set.of("TOLLGATE_HEAP", "TOLLGATE_URL", "TOLLGATE_USER", "TOLLGATE_PASSWORD_FILE");

  @TempDir static Path directory;
  private static List<Entry> entries;
  private static Path home;

  /** One header of the archive. */
  private record Entry(
      String name, char type, int mode, int user, int group, String owner, Instant changed) {}

  @BeforeAll
  static void unpack() throws Exception {
    entries = read();
    Commands.Ended tar =
        Commands.run(directory, Map.of(), "tar", "-xzf", ARCHIVE.toAbsolutePath().toString());
    assertEquals(0, tar.status(), tar.err());
    home = directory.resolve(entries.get(0).name().split("/", 2)[0]);
  }

  private static List<Entry> read() throws IOException {
    List<Entry> entries = new ArrayList<>();
    try (InputStream file = Files.newInputStream(ARCHIVE);
        DataInputStream in = new DataInputStream(new GZIPInputStream(file, 1 << 16))) {
      byte[] header = new byte[BLOCK];
      for (in.readFully(header); header[0] != 0; in.readFully(header)) {
        long size = number(header, 124, 12);
        entries.add(
            new Entry(
                text(header, 345, 155).isEmpty()
                    ? text(header, 0, 100)
                    : text(header, 345, 155) + "/" + text(header, 0, 100),
                (char) header[156],
                (int) number(header, 100, 8),
                (int) number(header, 108, 8),
                (int) number(header, 116, 8),
                text(header, 265, 32) + ":" + text(header, 297, 32),
                Instant.ofEpochSecond(number(header, 136, 12))));
        in.skipNBytes((size + BLOCK - 1) / BLOCK * BLOCK);
      }
    }
    return entries;
  }

  private static String text(byte[] header, int offset, int length) {
    String field = new String(header, offset, length, StandardCharsets.UTF_8);
    int end = field.indexOf('\0');
    return end < 0 ? field : field.substring(0, end);
  }

  private static long number(byte[] header, int offset, int length) {
    String digits = text(header, offset, length).strip();
    return digits.isEmpty() ? 0 : Long.parseLong(digits, 8);
  }

  /** Nothing of the machine, the user or the time of the build is in it. */
  @Test
  void archiveIsTheSameWhoeverBuildsIt() throws IOException {
    byte[] head = new byte[10];
    try (InputStream in = Files.newInputStream(ARCHIVE)) {
      in.readNBytes(head, 0, head.length);
    }
    assertEquals(0, head[4] | head[5] | head[6] | head[7], "the time in the header of gzip");
    List<String> names = new ArrayList<>();
    for (Entry entry : entries) {
      if (entry.type() == 'x') {
        continue;
      }
      assertEquals(BUILT, entry.changed(), entry.name());
      assertEquals(0, entry.user() | entry.group(), entry.name());
      assertEquals("root:root", entry.owner(), entry.name());
      int expected = entry.type() == '5' || entry.name().endsWith("/bin/tollgate") ? 0755 : 0644;
      assertEquals(
          Integer.toOctalString(expected),
          Integer.toOctalString(entry.mode() & 0777),
          entry.name());
      names.add(entry.name());
    }
    assertEquals(Set.copyOf(names).size(), names.size(), "no entry comes twice");
    // jars come in an order of Maven, which is the same for the same versions
    List<String> pages = names.stream().filter(name -> name.contains("/docs/adr/0")).toList();
    assertEquals(pages.stream().sorted().toList(), pages, "in an order that is always the same");
  }

  @Test
  void archiveHasWhatAnOperatorNeeds() {
    for (String file :
        List.of(
            "bin/tollgate",
            "conf/logback.xml",
            "docs/operations.md",
            "docker/Dockerfile",
            "kubernetes/tollgate.yaml",
            "systemd/tollgate.service",
            "systemd/tollgate-backup.service",
            "systemd/tollgate-backup.timer",
            "LICENSE",
            "NOTICE",
            "README.md",
            "licenses/THIRD-PARTY.txt")) {
      assertTrue(Files.isRegularFile(home.resolve(file)), file);
    }
    assertTrue(Files.notExists(home.resolve("target")));
  }

  /** A library that joins or leaves makes this fail. */
  @Test
  void everyLibraryHasItsLicense() throws IOException {
    List<String> lines = Files.readAllLines(home.resolve("licenses/THIRD-PARTY.txt"));
    List<String[]> table =
        lines.subList(lines.indexOf("") + 2, lines.size()).stream()
            .map(line -> line.split(" +", -1))
            .toList();
    for (String[] row : table) {
      assertEquals(4, row.length, String.join(" ", row));
      assertTrue(Files.isRegularFile(home.resolve(row[2])), row[2]);
    }
    Set<String> used = new HashSet<>();
    try (Stream<Path> jars = Files.list(home.resolve("lib"))) {
      for (Path jar : jars.toList()) {
        String name = jar.getFileName().toString();
        List<String[]> rows =
            table.stream()
                .filter(row -> name.startsWith(row[0].endsWith("-") ? row[0] : row[0] + "-"))
                .toList();
        if (rows.isEmpty() && name.startsWith("tollgate-")) {
          continue;
        }
        assertEquals(1, rows.size(), () -> "lines of THIRD-PARTY.txt for " + name);
        used.add(rows.get(0)[0]);
      }
    }
    assertEquals(
        new TreeSet<>(table.stream().map(row -> row[0]).toList()),
        new TreeSet<>(used),
        "each line is about a jar");
  }

  /** A scanner that reads it knows of H2, whose classes are in a jar of Tollgate. */
  @Test
  void billOfMaterialsNamesEveryLibrary() throws IOException {
    assumeFalse(
        "offline=true".equals(System.getProperty("tollgate.maven")),
        "mvn -o leaves it out: the plugin that writes it works online");
    Matcher components =
        Pattern.compile("\"purl\"\\s*:\\s*\"pkg:maven/[^/\"]+/([^@\"]+)@([^?\"]+)[?]type=jar\"")
            .matcher(Files.readString(home.resolve("tollgate.cdx.json")));
    Set<String> named = new TreeSet<>();
    while (components.find()) {
      named.add(components.group(1) + "-" + components.group(2) + ".jar");
    }
    assertTrue(named.removeIf(name -> name.matches("h2-[0-9.]+[.]jar")), named::toString);
    named.removeIf(name -> name.matches("tollgate-(distribution|replica)-.*|jspecify-.*"));
    assertEquals(jars(home.resolve("lib")), named);
  }

  @Test
  void archiveHasItsChecksum() throws Exception {
    Path archive = Path.of(System.getProperty("tollgate.archive"));
    byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(archive));
    assertEquals(
        HexFormat.of().formatHex(digest) + "  " + archive.getFileName(),
        Files.readString(archive.resolveSibling(archive.getFileName() + ".sha256")).strip());
  }

  /** Libraries that are optional for an application, a server has to have. */
  @Test
  void archiveHasEveryLibraryOfTheNode() throws IOException {
    assertEquals(jars(Path.of("..", "target", "lib")), jars(home.resolve("lib")));
  }

  private static Set<String> jars(Path directory) throws IOException {
    try (Stream<Path> jars = Files.list(directory)) {
      return jars.map(jar -> jar.getFileName().toString())
          .filter(name -> !name.startsWith("tollgate-replica-"))
          .collect(Collectors.toCollection(TreeSet::new));
    }
  }

  /** From nothing but the archive to a lock that a command has. */
  @Test
  void unpackedProgramServesAndLocks() throws Exception {
    String program = home.resolve("bin/tollgate").toString();
    Map<String, String> environment = Map.of("JAVA_HOME", System.getProperty("java.home"));
    Commands.Ended version = Commands.run(directory, environment, program, "--version");
    assertEquals(0, version.status(), version.err());
    assertTrue(version.out().startsWith("Tollgate 0."), version.out());

    long start = System.nanoTime();
    int port = freePort();
    int adminPort = freePort();
    ProcessBuilder builder =
        new ProcessBuilder(
                program,
                "server",
                "--id=n1",
                "--data=" + directory.resolve("data"),
                "--client-address=127.0.0.1:" + port,
                "--admin-address=" + adminPort)
            .redirectError(directory.resolve("node.log").toFile());
    builder.environment().putAll(environment);
    builder.environment().put("TOLLGATE_HEAP", "256m");
    Process node = builder.start();
    try (BufferedReader out =
        new BufferedReader(new InputStreamReader(node.getInputStream(), StandardCharsets.UTF_8))) {
      String ready = CompletableFuture.supplyAsync(() -> line(out)).get(60, TimeUnit.SECONDS);
      assertTrue(ready.startsWith("tollgate n1 ready:"), () -> ready + log());
      Commands.Ended lock =
          Commands.run(
              directory,
              environment,
              program,
              "lock",
              "--url=jdbc:tollgate://127.0.0.1:" + port + "/",
              "first",
              "--",
              "sh",
              "-c",
              "echo $TOLLGATE_TOKEN");
      assertEquals(0, lock.status(), lock.err());
      assertTrue(Long.parseLong(lock.out().strip()) > 0, lock.out());
      System.out.printf(
          "DistributionIT: %d bytes of archive; a command had its first lock %d ms after the start"
              + " of the node%n",
          Files.size(ARCHIVE), Duration.ofNanos(System.nanoTime() - start).toMillis());
      URL health = URI.create("http://127.0.0.1:" + adminPort + "/health/ready").toURL();
      assertEquals(200, ((HttpURLConnection) health.openConnection()).getResponseCode());
      assertEquals(0, node.descendants().count(), "signals reach the node, and not only a shell");
      node.destroy();
      assertTrue(node.waitFor(30, TimeUnit.SECONDS));
      assertEquals(143, node.exitValue(), DistributionIT::log);
    } finally {
      node.descendants().forEach(ProcessHandle::destroyForcibly);
      node.destroyForcibly();
    }
  }

  /** The unpacked program takes the settings that the manifests give to each of the three nodes. */
  @Test
  void settingsOfTheManifestsAreValid() throws Exception {
    String program = home.resolve("bin/tollgate").toString();
    String java = System.getProperty("java.home");
    Path files = Files.createDirectory(directory.resolve("etc"));
    Path password = Files.createDirectory(files.resolve("admin")).resolve("password");
    Files.writeString(password, "correct horse battery staple");
    Files.setPosixFilePermissions(password, PosixFilePermissions.fromString("rw-------"));
    Map<String, String> manifest = Manifests.environment(Manifests.read());
    for (int i = 0; i < 3; i++) {
      String id = "tollgate-" + i;
      Map<String, String> environment = new HashMap<>();
      manifest.forEach(
          (name, value) ->
              environment.put(
                  name,
                  value
                      .replace("$(TOLLGATE_ID)", id)
                      // a pod knows its own name, and this machine does not
                      .replace(id + ".tollgate.default.svc.cluster.local", "localhost")
                      .replace("/etc/tollgate", files.toString())));
      environment.put("TOLLGATE_ID", id);
      Commands.Ended certificates =
          Commands.run(
              directory,
              Map.of("JAVA_HOME", java),
              program,
              "certificates",
              files.resolve("tls").toString(),
              "--node="
                  + id
                  + "="
                  + environment.get("TOLLGATE_RAFT_ADDRESS").replaceAll(":.*", ""));
      assertEquals(0, certificates.status(), certificates.err());
      // as the secret of the node has them
      for (String kind : List.of("crt", "key")) {
        Path tls = files.resolve("tls");
        Files.move(
            tls.resolve(id + "." + kind),
            tls.resolve("tls." + kind),
            StandardCopyOption.REPLACE_EXISTING);
      }
      environment.put("JAVA_HOME", java);
      Commands.Ended check =
          Commands.run(directory, environment, program, "server", "--check-config");
      assertEquals(0, check.status(), check.out() + check.err());
      for (String name : manifest.keySet()) {
        assertTrue(
            NOT_OF_A_SERVER.contains(name)
                || check.out().lines().anyMatch(line -> line.endsWith(" " + name)),
            () -> name + " in " + check.out());
      }
    }
  }

  private static String line(BufferedReader in) {
    try {
      return String.valueOf(in.readLine());
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String log() {
    try {
      return "\n" + Files.readString(directory.resolve("node.log"));
    } catch (IOException e) {
      return e.toString();
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
