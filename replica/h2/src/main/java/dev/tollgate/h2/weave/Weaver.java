package dev.tollgate.h2.weave;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;

/** Copies the files of H2, and rewrites the classes that statements run through. */
public final class Weaver {
  /** Stores know nothing of SQL, and clients and tools do not run on a node. */
  private static final List<String> UNTOUCHED =
      List.of(
          "org/h2/mvstore/",
          "org/h2/store/",
          "org/h2/tools/",
          "org/h2/server/",
          "org/h2/jdbc/",
          "org/h2/jdbcx/",
          "org/h2/bnf/",
          "org/h2/fulltext/",
          "org/h2/jmx/");

  private static final String WITHIN_THE_STORE = "org/h2/mvstore/db/";

  /** Where statements do their work. */
  private static final List<String> COUNTED =
      List.of(
          "org/h2/command/",
          "org/h2/constraint/",
          "org/h2/expression/",
          "org/h2/index/",
          "org/h2/mode/",
          "org/h2/result/",
          "org/h2/schema/",
          "org/h2/security/",
          "org/h2/table/",
          "org/h2/util/",
          "org/h2/value/");

  /**
   * What is done again, or is not, as the collector, other threads or earlier statements have it.
   */
  private static final List<String> UNCOUNTED =
      List.of(
          "org/h2/util/Abba",
          "org/h2/util/CloseWatcher",
          "org/h2/util/MathUtils",
          "org/h2/util/Profiler",
          "org/h2/util/SmallLRUCache",
          "org/h2/util/SoftValuesHashMap",
          "org/h2/util/TempFileDeleter",
          "org/h2/util/TimeZoneProvider");

  private Weaver() {}

  /** Arguments: the directory with H2's files, and the directory to write to. */
  public static void main(String[] args) throws IOException {
    Path from = Path.of(args[0]);
    Path to = Path.of(args[1]);
    Replacements ofAll = Replacements.ofAll();
    Replacements ofStorage = Replacements.ofStorage();
    Replacements ofCounted = Replacements.ofCounted();
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
        Path target = to.resolve(from.relativize(file).toString());
        Files.createDirectories(Objects.requireNonNull(target.getParent(), "directory"));
        String name = from.relativize(file).toString();
        if (isRewritten(name)) {
          boolean counted = isCounted(name);
          Replacements replacements =
              counted ? ofCounted : name.startsWith(WITHIN_THE_STORE) ? ofStorage : ofAll;
          Files.write(target, rewrite(Files.readAllBytes(file), replacements, counted));
        } else {
          Files.copy(file, target, StandardCopyOption.REPLACE_EXISTING);
        }
      }
    }
  }

  /** True for the file of a class that is rewritten. */
  static boolean isRewritten(String file) {
    return file.startsWith("org/h2/")
        && file.endsWith(".class")
        && (file.startsWith(WITHIN_THE_STORE) || UNTOUCHED.stream().noneMatch(file::startsWith));
  }

  static boolean isCounted(String file) {
    return COUNTED.stream().anyMatch(file::startsWith)
        && UNCOUNTED.stream().noneMatch(file::startsWith);
  }

  static byte[] rewrite(byte[] bytes, Replacements replacements, boolean counted) {
    ClassReader reader = new ClassReader(bytes);
    ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
    reader.accept(new Rewriting(reader.getClassName(), replacements, counted, writer), 0);
    return writer.toByteArray();
  }
}
