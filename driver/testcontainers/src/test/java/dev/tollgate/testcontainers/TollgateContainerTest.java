package dev.tollgate.testcontainers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.testcontainers.containers.JdbcDatabaseContainer;
import org.testcontainers.containers.JdbcDatabaseContainerProvider;
import org.testcontainers.jdbc.ConnectionUrl;
import org.testcontainers.utility.DockerImageName;

/** What needs no container. */
class TollgateContainerTest {
  private static JdbcDatabaseContainer<?> containerOf(String url) {
    JdbcDatabaseContainerProvider provider =
        ServiceLoader.load(JdbcDatabaseContainerProvider.class).stream()
            .map(ServiceLoader.Provider::get)
            .filter(each -> each.supports("tollgate"))
            .findFirst()
            .orElseThrow();
    return provider.newInstance(ConnectionUrl.newInstance(url));
  }

  /** Without getDockerImageName(), which looks for the image in an engine. */
  private static String imageOf(JdbcDatabaseContainer<?> container) {
    return assertInstanceOf(TollgateContainer.class, container)
        .getImage()
        .toString()
        .replaceFirst(".*imageName=([^,]*),.*", "$1");
  }

  @Test
  void providerIsFoundAndTakesTheTagOfTheUrl() {
    assertEquals("tollgate:1.2.3", imageOf(containerOf("jdbc:tc:tollgate:1.2.3:///")));
  }

  @Test
  void imageWithoutTagIsOfTheVersionOfTheArtifact() {
    assertEquals(
        "tollgate:" + System.getProperty("tollgate.version"),
        imageOf(containerOf("jdbc:tc:tollgate:///")));
  }

  @Test
  void otherImageHasToBeDeclaredCompatible() {
    DockerImageName other = DockerImageName.parse("registry.example.com/ops/tollgate:7");
    assertThrows(IllegalStateException.class, () -> new TollgateContainer(other));
    assertEquals(
        other.toString(),
        imageOf(new TollgateContainer(other.asCompatibleSubstituteFor("tollgate"))));
  }

  @Test
  void settingsThatNodesDoNotHaveAreRefused() {
    TollgateContainer container = new TollgateContainer();
    assertThrows(UnsupportedOperationException.class, () -> container.withUsername("scott"));
    assertThrows(UnsupportedOperationException.class, () -> container.withPassword("tiger"));
    assertThrows(UnsupportedOperationException.class, () -> container.withDatabaseName("d"));
    assertTrue(container.getUsername().isEmpty());
  }

  @Test
  void exampleOfThePageIsOneThatRuns() throws IOException {
    String example =
        Files.readString(
                Path.of("src/test/java/dev/tollgate/testcontainers/ReportInContainer.java"))
            .replaceFirst("package .*;\n\n", "");
    String page = Files.readString(Path.of("..", "..", "docs", "adapters.md"));
    assertTrue(
        page.replace("import dev.tollgate.testcontainers.TollgateContainer;\n", "")
            .contains(example),
        "the page has another ReportInContainer than the tests");
  }
}
