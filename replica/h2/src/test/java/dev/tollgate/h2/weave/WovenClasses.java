package dev.tollgate.h2.weave;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;

/** The classes of this module as they are after the weaving. */
final class WovenClasses {
  private static final Path DIRECTORY = Path.of("target", "classes");

  private WovenClasses() {}

  /**
   * Visits classes, one after the other.
   *
   * @param wanted is asked with names such as {@code org/h2/value/Value.class}
   */
  static void visit(Predicate<String> wanted, ClassVisitor visitor) throws IOException {
    try (Stream<Path> files = Files.walk(DIRECTORY)) {
      for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
        if (wanted.test(DIRECTORY.relativize(file).toString())) {
          new ClassReader(Files.readAllBytes(file)).accept(visitor, ClassReader.SKIP_FRAMES);
        }
      }
    }
  }
}
