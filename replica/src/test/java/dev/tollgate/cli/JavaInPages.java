package dev.tollgate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;

/** Compiles and runs the programs of a page in a directory, with the class path of the tests. */
public record JavaInPages(Path directory) {
  /** The blocks of a language, in the order of the page. */
  public static List<String> blocks(String page, String language) {
    return Pattern.compile("(?s)```" + language + "\n(.*?)```")
        .matcher(page)
        .results()
        .map(each -> each.group(1))
        .toList();
  }

  /** The block of a page that is a program of this name. */
  static String program(String page, String name) {
    return blocks(page, "java").stream()
        .filter(block -> block.contains("public class " + name + " {"))
        .findFirst()
        .orElseThrow();
  }

  public void compile(String name, String source) throws IOException {
    Path file = Files.writeString(directory.resolve(name + ".java"), source);
    int failed =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                null,
                null,
                "-proc:none",
                "-cp",
                System.getProperty("java.class.path"),
                file.toString());
    assertEquals(0, failed);
  }

  public void run(String name) throws Exception {
    URL[] classes = {directory.toUri().toURL()};
    try (URLClassLoader loader = new URLClassLoader(classes)) {
      Class<?> program = loader.loadClass(name);
      program.getMethod("main", String[].class).invoke(null, (Object) new String[0]);
    }
  }
}
