package dev.tollgate.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** The jar that applications embed, as an application meets it. */
@Timeout(180)
class EmbeddedJarIT {
  private static final Path JAR = path("tollgate.jar");
  private static final Path LIB = path("tollgate.it.lib");
  private static final String OLDER = System.getProperty("tollgate.older-h2.version");
  private static final String OTHER = System.getProperty("tollgate.other-h2.version");

  @TempDir Path directory;

  private static Path path(String property) {
    return Path.of(System.getProperty(property));
  }

  private static List<String> entries() throws IOException {
    try (JarFile jar = new JarFile(JAR.toFile())) {
      return jar.stream().map(entry -> entry.getName()).filter(n -> !n.endsWith("/")).toList();
    }
  }

  private static String text(String entry) throws IOException {
    try (JarFile jar = new JarFile(JAR.toFile())) {
      return new String(
          jar.getInputStream(jar.getEntry(entry)).readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void everyClassIsOursOrRenamed() throws Exception {
    Set<String> packages =
        entries().stream()
            .filter(name -> name.endsWith(".class"))
            .map(name -> name.replaceFirst("^(dev/tollgate/(embedded/)?[a-z0-9]+).*", "$1"))
            .collect(Collectors.toCollection(TreeSet::new));
    assertEquals(
        new TreeSet<>(
            Set.of(
                "dev/tollgate/core",
                "dev/tollgate/embedded/calcite",
                "dev/tollgate/embedded/guava",
                "dev/tollgate/embedded/h2",
                "dev/tollgate/embedded/math3",
                "dev/tollgate/embedded/netty",
                "dev/tollgate/embedded/value",
                "dev/tollgate/h2",
                "dev/tollgate/log",
                "dev/tollgate/node",
                "dev/tollgate/seal",
                "dev/tollgate/snapshot",
                "dev/tollgate/sql",
                "dev/tollgate/store")),
        packages);
  }

  @Test
  void theDriverFindsTheNodeAndNobodyFindsH2() throws Exception {
    assertEquals(
        List.of("META-INF/services/dev.tollgate.transport.EmbeddedNodeProvider"),
        entries().stream().filter(name -> name.startsWith("META-INF/services/")).toList());
    for (String name : entries()) {
      assertFalse(name.contains("org/h2"), name);
      assertFalse(name.contains("logback"), name);
      assertFalse(name.startsWith("META-INF/versions"), name);
      assertFalse(name.startsWith("META-INF/native-image"), name);
    }
  }

  @Test
  void licencesAndNoticesAreKept() throws Exception {
    assertTrue(text("META-INF/LICENSE").contains("Apache License"));
    assertTrue(text("META-INF/licenses/h2-MPL-2.0.txt").contains("Mozilla Public License"));
    assertTrue(text("META-INF/licenses/commons-math3.txt").contains("Orekit"));
    String notice = text("META-INF/NOTICE");
    for (String project : List.of("H2 Database", "Calcite", "Math", "Guava", "Netty")) {
      assertTrue(notice.contains(project), project);
    }
    assertFalse(notice.contains("${"), notice);
    for (String project : List.of("calcite", "avatica", "commons-math3")) {
      assertTrue(text("META-INF/notices/" + project + ".txt").contains("Apache"), project);
    }
  }

  @Test
  void thePomNamesTheDriverRatisAndTheLoggingInterface() throws Exception {
    DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
    factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
    Document pom = factory.newDocumentBuilder().parse(path("tollgate.pom").toFile());
    NodeList dependencies = pom.getElementsByTagName("dependency");
    Set<String> named = new TreeSet<>();
    for (int i = 0; i < dependencies.getLength(); i++) {
      Element dependency = (Element) dependencies.item(i);
      if (dependency.getParentNode().getParentNode() == pom.getDocumentElement()) {
        NodeList scope = dependency.getElementsByTagName("scope");
        String text = scope.getLength() == 0 ? "compile" : scope.item(0).getTextContent();
        if (!Set.of("test", "provided").contains(text)) {
          named.add(dependency.getElementsByTagName("artifactId").item(0).getTextContent());
        }
      }
    }
    assertEquals(
        new TreeSet<>(
            Set.of(
                "ratis-metrics-default",
                "ratis-server",
                "slf4j-api",
                "tollgate-jdbc",
                "tollgate-ratis-thirdparty")),
        named);
    for (Path jar : declared()) {
      assertTrue(
          jar.getFileName()
              .toString()
              .matches("(ratis-(?!thirdparty)|slf4j-api-|tollgate-(jdbc|ratis-thirdparty)-).*"),
          "" + jar);
    }
  }

  private static List<Path> declared() throws IOException {
    try (Stream<Path> jars = Files.list(LIB.resolve("declared"))) {
      return jars.sorted().toList();
    }
  }

  /** Runs {@link Application} and returns what it prints and logs. */
  private String run(List<Path> before, List<String> options, String... arguments)
      throws Exception {
    List<Path> classPath = new ArrayList<>(before);
    classPath.add(JAR);
    classPath.addAll(declared());
    classPath.add(LIB.resolve("slf4j-simple.jar"));
    classPath.add(path("tollgate.test.classes"));
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Duser.language=en");
    command.add("-Xmx512m");
    command.addAll(options);
    command.add("-cp");
    command.add(
        classPath.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator)));
    command.add(Application.class.getName());
    command.add(directory.resolve("node").toString());
    command.addAll(List.of(arguments));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(process.waitFor(60, TimeUnit.SECONDS), output);
    assertEquals(0, process.exitValue(), output);
    return output;
  }

  private static void assertContains(String output, String expected, int times) {
    assertEquals(
        times, output.split(java.util.regex.Pattern.quote(expected), -1).length - 1, output);
  }

  /** What is the same with every H2 of the application, and without one. */
  private static void assertBothNodesWork(String output, int databases) {
    assertContains(output, "providers: org.slf4j.simple.SimpleServiceProvider\n", 1);
    assertContains(output, "found: \n", 1);
    assertContains(output, "the application logs", 1);
    assertContains(output, "SLF4J(W)", 0);
    assertContains(output, " DEBUG ", 0);
    assertContains(output, "mem: 2.5.250 (Tollgate ", 1);
    assertContains(output, "embedded: 2.5.250 (Tollgate ", 1);
    assertContains(output, " refuses: 23505 Unique index or primary key violation", databases);
    assertContains(output, " row: 1x[1, 2]\n", databases);
    assertContains(output, "fence: 23T01\n", 1);
    assertContains(output, "functions: X\n", 1);
    assertContains(output, "durable rows: 1\n", 2);
    assertFalse(output.contains("(Message "), output);
  }

  @Test
  void bothNodesWorkWithoutAnH2OfTheApplication() throws Exception {
    String output = run(List.of(), List.of());
    assertBothNodesWork(output, 2);
    assertContains(output, "drivers: dev.tollgate.jdbc.TollgateDriver\n", 1);
  }

  @Test
  void bothNodesWorkBesideAnOlderH2() throws Exception {
    assertWorksBeside(OLDER, List.of());
  }

  @Test
  void bothNodesWorkBesideAnotherH2AndItsSystemProperties() throws Exception {
    assertWorksBeside(OTHER, List.of("-Dh2.allowedClasses=none", "-Dh2.databaseToUpper=false"));
  }

  private void assertWorksBeside(String version, List<String> options) throws Exception {
    String output = run(List.of(LIB.resolve("h2-" + version + ".jar")), options, "h2");
    assertBothNodesWork(output, 3);
    assertContains(output, "own: " + version + " (", 1);
    assertContains(output, "own rows: 1\n", 1);
    assertContains(output, "drivers: dev.tollgate.jdbc.TollgateDriver,org.h2.Driver\n", 1);
  }

  /** Compiles an application that is a module, and runs it; returns its status and its output. */
  private String runModule(int status, List<Path> modules, List<Path> classPath) throws Exception {
    Path source = Files.createDirectories(directory.resolve("source"));
    Path application = Files.createDirectories(directory.resolve("application"));
    Path module =
        Files.writeString(
            source.resolve("module-info.java"),
            "module shop { requires java.sql; requires dev.tollgate.jdbc; }");
    Path main =
        Files.writeString(
            Files.createDirectories(source.resolve("shop")).resolve("Main.java"),
            """
            package shop;

            import java.sql.*;

            public class Main {
              public static void main(String[] arguments) throws Exception {
                try (Connection connection = DriverManager.getConnection(arguments[0]);
                    ResultSet rows = connection.createStatement().executeQuery("SELECT 42")) {
                  rows.next();
                  System.out.println(Main.class.getModule() + " read " + rows.getInt(1));
                }
              }
            }
            """);
    List<Path> path = new ArrayList<>(modules);
    int compiled =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                null,
                null,
                "-p",
                driver().toString(),
                "-d",
                application.toString(),
                module.toString(),
                main.toString());
    assertEquals(0, compiled);
    path.add(application);
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Duser.language=en",
            "-Xmx512m",
            "-p",
            joined(path),
            "-cp",
            joined(classPath),
            "-m",
            "shop/shop.Main",
            "jdbc:tollgate:embedded:" + directory.resolve("node"));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(process.waitFor(60, TimeUnit.SECONDS), output);
    assertEquals(status, process.exitValue(), output);
    return output;
  }

  private static String joined(List<Path> paths) {
    return paths.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
  }

  private static boolean isDriver(Path jar) {
    return jar.getFileName().toString().startsWith("tollgate-jdbc-");
  }

  private static Path driver() throws IOException {
    return declared().stream().filter(EmbeddedJarIT::isDriver).findFirst().orElseThrow();
  }

  @Test
  void applicationAndDriverAreModulesAndTheNodeIsOnTheClassPath() throws Exception {
    List<Path> node = new ArrayList<>(declared());
    node.removeIf(EmbeddedJarIT::isDriver);
    node.add(JAR);
    String output = runModule(0, List.of(driver()), node);
    assertContains(output, "module shop read 42\n", 1);
  }

  /** If this fails, Ratis has become modules: say so in docs/driver.md. */
  @Test
  void jarsOfRatisAreNoModules() throws Exception {
    List<Path> all = new ArrayList<>(declared());
    all.add(JAR);
    assertContains(runModule(1, all, List.of()), "ratis.metrics.default: Invalid module name", 1);
    Set<String> api = packages("ratis-server-api-");
    api.retainAll(packages("ratis-server-3"));
    assertTrue(api.contains("org/apache/ratis/server"), "" + api);
  }

  private static Set<String> packages(String jarName) throws IOException {
    Path found =
        declared().stream()
            .filter(path -> path.getFileName().toString().startsWith(jarName))
            .findFirst()
            .orElseThrow();
    try (JarFile jar = new JarFile(found.toFile())) {
      return jar.stream()
          .map(entry -> entry.getName())
          .filter(name -> name.endsWith(".class") && name.contains("/"))
          .map(name -> name.substring(0, name.lastIndexOf('/')))
          .collect(Collectors.toCollection(TreeSet::new));
    }
  }
}
