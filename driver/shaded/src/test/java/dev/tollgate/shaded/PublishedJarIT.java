package dev.tollgate.shaded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** The jar that is published, as an application meets it. */
@Timeout(120)
class PublishedJarIT {
  private static final Path JAR = path("tollgate.jar");
  private static final Path LIB = path("tollgate.it.lib");
  private static final Path TEST_CLASSES = path("tollgate.test.classes");
  private static final Path OTHER_H2 = LIB.resolve("other-h2.jar");
  private static final Path H2 = LIB.resolve("h2.jar");
  private static final Path DRIVER = LIB.resolve("driver.jar");
  private static final Path FAKES = LIB.resolve("driver-tests.jar");

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
  void everyClassIsOurs() throws Exception {
    Set<String> packages =
        entries().stream()
            .filter(name -> name.endsWith(".class"))
            .map(name -> name.replaceFirst("^(dev/tollgate/[a-z0-9]+).*", "$1"))
            .collect(Collectors.toCollection(TreeSet::new));
    assertEquals(
        Set.of(
            "dev/tollgate/jdbc",
            "dev/tollgate/lock",
            "dev/tollgate/shaded",
            "dev/tollgate/tls",
            "dev/tollgate/transport",
            "dev/tollgate/wire"),
        packages);
  }

  @Test
  void nothingOfH2IsFoundByOthers() throws Exception {
    for (String name : entries()) {
      assertFalse(name.contains("org/h2"), name);
      assertFalse(name.startsWith("META-INF/versions"), name);
      assertTrue(
          !name.startsWith("META-INF/native-image")
              || name.startsWith("META-INF/native-image/dev.tollgate/tollgate-jdbc/"),
          name);
      assertFalse(name.endsWith("data.zip"), name);
    }
    assertEquals(
        List.of("META-INF/services/java.sql.Driver"),
        entries().stream().filter(name -> name.startsWith("META-INF/services/")).toList());
    assertEquals(
        "dev.tollgate.jdbc.TollgateDriver", text("META-INF/services/java.sql.Driver").trim());
    assertTrue(JAR.toFile().length() < 3_100_000, JAR.toFile().length() + " bytes");
  }

  @Test
  void theJarSaysWhatItIs() throws Exception {
    try (JarFile jar = new JarFile(JAR.toFile())) {
      var manifest = jar.getManifest().getMainAttributes();
      assertEquals("dev.tollgate.jdbc", manifest.getValue("Automatic-Module-Name"));
      assertNotNull(manifest.getValue("Implementation-Version"));
      assertEquals(null, manifest.getValue("Multi-Release"));
      assertEquals(null, manifest.getValue("Main-Class"));
    }
    assertTrue(text("META-INF/LICENSE").contains("Apache License"));
    assertTrue(text("META-INF/licenses/h2-MPL-2.0.txt").contains("Mozilla Public License"));
    String notice = text("META-INF/NOTICE");
    assertTrue(notice.contains("2.5.250") && notice.contains("Eclipse Public"), notice);
    assertFalse(notice.contains("${"), notice);
  }

  @Test
  void thePomHasNoDependency() throws Exception {
    DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
    factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
    Document pom = factory.newDocumentBuilder().parse(path("tollgate.pom").toFile());
    NodeList dependencies = pom.getElementsByTagName("dependency");
    for (int i = 0; i < dependencies.getLength(); i++) {
      Element dependency = (Element) dependencies.item(i);
      if (dependency.getParentNode().getParentNode() == pom.getDocumentElement()) {
        NodeList scope = dependency.getElementsByTagName("scope");
        String text = scope.getLength() == 0 ? "compile" : scope.item(0).getTextContent();
        assertTrue(Set.of("test", "provided").contains(text), dependency.getTextContent());
      }
    }
  }

  /** A cluster from the plain classes, kept apart by a class loader. */
  private interface ClusterUse {
    String with(String url) throws Exception;
  }

  private static String withCluster(ClusterUse use) throws Exception {
    URL[] urls = {
      FAKES.toUri().toURL(), DRIVER.toUri().toURL(), H2.toUri().toURL(),
    };
    try (URLClassLoader loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader())) {
      Class<?> type = loader.loadClass("dev.tollgate.fake.FakeCluster");
      AutoCloseable cluster = (AutoCloseable) type.getMethod("start", int.class).invoke(null, 1);
      try (cluster) {
        return use.with((String) type.getMethod("url", String.class).invoke(cluster, ""));
      }
    }
  }

  /** Runs {@link Application} and returns what it prints. */
  private static String run(List<Path> classPath, String... urls) throws Exception {
    return runUntil(0, classPath, urls);
  }

  private static String runUntil(int exitCode, List<Path> classPath, String... urls)
      throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Duser.language=en");
    command.add("-cp");
    command.add(
        classPath.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator)));
    command.add(Application.class.getName());
    command.addAll(List.of(urls));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(process.waitFor(60, TimeUnit.SECONDS), output);
    assertEquals(exitCode, process.exitValue(), output);
    return output;
  }

  private static void assertContains(String output, String expected, int times) {
    assertEquals(
        times, output.split(java.util.regex.Pattern.quote(expected), -1).length - 1, output);
  }

  private static void assertTexts(String output, int times) {
    assertContains(output, "Unique index or primary key violation: \"", times);
    assertContains(output, "INSERT INTO T(ID, V, A) VALUES(?, ?, ?)", times);
    assertContains(output, "by the driver: 42122 Column \"NOTHING\" not found", times);
    assertContains(output, "table: true", times);
    assertFalse(output.contains("(Message "), output);
  }

  @Test
  void itWorksAlone() throws Exception {
    String output = withCluster(url -> run(List.of(JAR, TEST_CLASSES), url));
    assertContains(output, "drivers: dev.tollgate.jdbc.TollgateDriver\n", 1);
    assertContains(output, "version: 2.5.250 (Tollgate ", 1);
    assertContains(output, "drivers after: 1\n", 1);
    assertTexts(output, 1);
  }

  @Test
  void withoutANodeItNamesTheArtifactThatIsMissing() throws Exception {
    for (String url : List.of("jdbc:tollgate:mem:x", "jdbc:tollgate:embedded:target/no-node")) {
      String output = runUntil(1, List.of(JAR, TEST_CLASSES), url);
      assertTrue(output.contains("add the artifact dev.tollgate:tollgate-embedded "), output);
    }
  }

  @Test
  void itWorksBesideAnotherVersionOfH2() throws Exception {
    for (List<Path> classPath :
        List.of(List.of(JAR, OTHER_H2, TEST_CLASSES), List.of(OTHER_H2, JAR, TEST_CLASSES))) {
      String output = withCluster(url -> run(classPath, url, "jdbc:h2:mem:"));
      assertContains(output, "drivers: dev.tollgate.jdbc.TollgateDriver,org.h2.Driver\n", 1);
      assertContains(output, "version: 2.5.250 (Tollgate ", 1);
      assertContains(
          output, "version: " + System.getProperty("tollgate.other-h2.version") + " ", 1);
      assertContains(output, "drivers after: 2\n", 1);
      assertTexts(output, 2);
    }
  }

  @Test
  void aNodeInTheSameJvmMayBeBuiltOnThePlainClasses() throws Exception {
    for (List<Path> classPath :
        List.of(
            List.of(JAR, FAKES, DRIVER, H2, TEST_CLASSES),
            List.of(H2, DRIVER, FAKES, JAR, TEST_CLASSES))) {
      String output = run(classPath, "jdbc:tollgate:mem:x", "jdbc:h2:mem:");
      assertContains(output, "version: 2.5.250 (Tollgate ", 1);
      assertTexts(output, 2);
    }
  }
}
