package dev.tollgate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * What GraalVM's native-image cannot find by itself is listed in the published jar. A new use of
 * reflection fails here until it is listed.
 */
class NativeImageTest {
  private static final Path METADATA =
      Path.of("shaded/src/main/resources/META-INF/native-image/dev.tollgate/tollgate-jdbc");

  /** Where the driver looks things up by name, with what has to be in the metadata for it. */
  private static final Map<String, String> LISTED =
      Map.of(
          "dev.tollgate.jdbc.DriverVersion", "dev/tollgate/jdbc/version.properties",
          "dev.tollgate.jdbc.TollgateMetaData", "\"java.sql.DatabaseMetaData\"",
          "dev.tollgate.jdbc.TollgateResultSet", "\"java.sql.ResultSet\"",
          "dev.tollgate.jdbc.TollgateStatement", "\"java.sql.Statement\"",
          "dev.tollgate.lock.WorkConnection", "\"java.sql.CallableStatement\"",
          "org.h2.engine.SessionBridge", "dev.tollgate.shaded.h2.engine.Constants");

  /** Looks for a node in the same JVM, which is not for native images. */
  private static final String EMBEDDED = "dev.tollgate.transport.Cluster";

  private static final Set<String> LOOKS_UP =
      Set.of(
          "forName",
          "getConstructor",
          "getDeclaredConstructor",
          "getDeclaredField",
          "getDeclaredMethod",
          "getField",
          "getMethod",
          "getMethods",
          "getResource",
          "getResourceAsStream",
          "loadClass");

  private static boolean looksUp(String owner, String method) {
    return switch (owner) {
      case "java.lang.reflect.Proxy" -> method.equals("newProxyInstance");
      case "java.util.ServiceLoader" -> method.equals("load");
      case "java.lang.Class", "java.lang.ClassLoader" -> LOOKS_UP.contains(method);
      default -> false;
    };
  }

  private static String metadata() throws IOException {
    StringBuilder all = new StringBuilder();
    for (String kind : Set.of("proxy", "reflect", "resource")) {
      all.append(Files.readString(METADATA.resolve(kind + "-config.json")));
    }
    return all.toString();
  }

  @Test
  void everyLookUpByNameIsListed() throws Exception {
    JavaClasses driver =
        new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("dev.tollgate", "org.h2.engine");
    Set<String> found = new TreeSet<>();
    driver.stream()
        .filter(
            type -> type.getPackageName().startsWith("dev.tollgate") || isBridge(type.getName()))
        .flatMap(type -> type.getMethodCallsFromSelf().stream())
        .filter(call -> looksUp(call.getTargetOwner().getName(), call.getName()))
        .forEach(call -> found.add(call.getOriginOwner().getName()));
    Map<String, String> known = new TreeMap<>(LISTED);
    known.put(EMBEDDED, "");
    assertEquals(known.keySet(), found);
    String metadata = metadata();
    LISTED.forEach((user, name) -> assertTrue(metadata.contains(name), user + ": " + name));
  }

  private static boolean isBridge(String name) {
    return name.equals("org.h2.engine.SessionBridge");
  }

  /** Pools and application servers make these by the names of their classes. */
  @Test
  void whatApplicationsNameIsListed() throws Exception {
    String metadata = metadata();
    for (String name :
        Set.of(
            "dev.tollgate.jdbc.TollgateDriver",
            "dev.tollgate.jdbc.TollgateDataSource",
            "META-INF/services/java.sql.Driver",
            "dev/tollgate/shaded/h2/res/")) {
      assertTrue(metadata.contains(name), name);
    }
  }
}
