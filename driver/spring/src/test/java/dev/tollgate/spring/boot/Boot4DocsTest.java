package dev.tollgate.spring.boot;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tollgate.spring.TollgateLockRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.jdbc.core.JdbcTemplate;

/** The programs of docs/adapters.md compile and do what the page says. */
@Timeout(60)
class Boot4DocsTest {
  private static final Path PAGE = Path.of("..", "..", "docs", "adapters.md");

  @TempDir private Path directory;
  private final String url = "jdbc:tollgate:mem:" + UUID.randomUUID();

  @BeforeEach
  void compile() throws Exception {
    String page = Files.readString(PAGE);
    int begin = page.indexOf("\n## Spring\n");
    int end = page.indexOf("\n## ", begin + 1);
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "-proc:none",
                "-parameters",
                "-d",
                directory.toString(),
                "-cp",
                System.getProperty("java.class.path")));
    Pattern.compile("(?s)```java\n(.*?)```")
        .matcher(page.substring(begin, end < 0 ? page.length() : end))
        .results()
        .forEach(each -> arguments.add(write(each.group(1))));
    assertEquals(2, arguments.stream().filter(each -> each.endsWith(".java")).count());
    assertEquals(
        0,
        ToolProvider.getSystemJavaCompiler()
            .run(null, null, null, arguments.toArray(String[]::new)));
  }

  private String write(String source) {
    String name = source.replaceAll("(?s).*?public class (\\w+).*", "$1");
    try {
      return Files.writeString(directory.resolve(name + ".java"), source).toString();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int count(Connection connection, String query) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(query)) {
      rows.next();
      return rows.getInt(1);
    }
  }

  private ConfigurableApplicationContext start(ClassLoader loader) throws Exception {
    SpringApplication application =
        new SpringApplication(loader.loadClass("com.example.ReportService"));
    application.setResourceLoader(new DefaultResourceLoader(loader));
    return application.run("--spring.datasource.url=" + url, "--spring.main.banner-mode=off");
  }

  @Test
  void serviceWritesUnderTheLockAndOrdersAreShipped() throws Exception {
    URL[] classes = {directory.toUri().toURL()};
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement();
        URLClassLoader loader = new URLClassLoader(classes)) {
      statement.execute("CREATE TABLE report(written TIMESTAMP) FENCED BY LOCK 'report'");
      statement.execute("CREATE TABLE orders(id INT PRIMARY KEY, shipped BOOLEAN)");
      statement.execute("INSERT INTO orders VALUES (7, FALSE)");
      statement.execute("ALTER TABLE orders FENCED BY LOCK ('order-' || id)");
      try (ConfigurableApplicationContext service = start(loader)) {
        await().until(() -> count(connection, "SELECT COUNT(*) FROM report") == 1);
        Object shipping =
            loader
                .loadClass("com.example.Shipping")
                .getConstructor(TollgateLockRegistry.class, JdbcTemplate.class)
                .newInstance(
                    service.getBean(TollgateLockRegistry.class),
                    service.getBean(JdbcTemplate.class));
        shipping.getClass().getMethod("ship", int.class).invoke(shipping, 7);
        assertEquals(1, count(connection, "SELECT COUNT(*) FROM orders WHERE shipped"));
      }
    }
  }
}
