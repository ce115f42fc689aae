package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemLoopException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * The scripts of a folder and the folders in it, named as Flyway names them: {@code
 * V1.2__add_city.sql} and {@code R__views.sql}. Everything is read and checked before anything
 * runs.
 */
final class ScriptFolder {
  private static final Pattern NAME = Pattern.compile("(?:V([0-9._]+?)|R)__(.+)\\.sql");
  private static final Pattern PLACEHOLDER = Pattern.compile("\\$\\{([^}\\s]*)\\}");
  private static final Pattern OPTION = Pattern.compile("(?m)^[ \\t]*--[ \\t]*tollgate:(.*)$");
  private static final char BYTE_ORDER_MARK = '\uFEFF';

  private final Path folder;
  private final Map<String, String> placeholders;
  private final Dialect dialect;

  private ScriptFolder(Path folder, Map<String, String> placeholders, Dialect dialect) {
    this.folder = requireNonNull(folder, "folder");
    this.placeholders = Map.copyOf(placeholders);
    this.dialect = requireNonNull(dialect, "dialect");
  }

  /** All scripts in the order in which they run: by version, then repeatable ones by name. */
  static List<Script> read(Path folder, Map<String, String> placeholders, Dialect dialect)
      throws MigrationException {
    return new ScriptFolder(folder, placeholders, dialect).read();
  }

  private List<Script> read() throws MigrationException {
    if (!Files.isDirectory(folder)) {
      throw wrong(folder + (Files.exists(folder) ? " is no folder" : " is not there"));
    }
    Map<String, Script> scripts = new TreeMap<>();
    for (Path file : files()) {
      Script script = read(file);
      Script other = scripts.putIfAbsent(script.key(), script);
      if (other != null) {
        throw wrong(
            (script.isRepeatable()
                    ? "name " + script.description()
                    : "version " + script.version().get())
                + " is there twice: "
                + other.path()
                + " and "
                + script.path());
      }
    }
    return scripts.values().stream()
        .sorted(
            Comparator.comparing(Script::isRepeatable)
                .thenComparing(
                    Script::givenVersion, Comparator.nullsLast(Comparator.naturalOrder()))
                .thenComparing(Script::description))
        .toList();
  }

  /**
   * Follows links, to files and to folders. Hidden folders are left out, as Flyway does: Kubernetes
   * keeps the files of a mounted ConfigMap in such a folder, and links to them beside it.
   */
  private List<Path> files() throws MigrationException {
    List<Path> files = new ArrayList<>();
    List<Path> deadLinks = new ArrayList<>();
    try {
      Files.walkFileTree(
          folder,
          EnumSet.of(FileVisitOption.FOLLOW_LINKS),
          Integer.MAX_VALUE,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path found, BasicFileAttributes attributes) {
              return !found.equals(folder) && String.valueOf(found.getFileName()).startsWith(".")
                  ? FileVisitResult.SKIP_SUBTREE
                  : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path found, BasicFileAttributes attributes) {
              String name = String.valueOf(found.getFileName());
              // a link that leads somewhere has the attributes of its target
              if (attributes.isSymbolicLink() && !name.startsWith(".")) {
                deadLinks.add(found);
              } else if (attributes.isRegularFile()
                  && name.toLowerCase(Locale.ROOT).endsWith(".sql")) {
                files.add(found);
              }
              return FileVisitResult.CONTINUE;
            }
          });
    } catch (FileSystemLoopException e) {
      throw wrong(e.getFile() + " is a link to a folder around it: remove the link");
    } catch (IOException e) {
      throw unreadable(folder, e);
    }
    if (!deadLinks.isEmpty()) {
      throw wrong(
          deadLinks.get(0) + " is a link to a file that is not there: correct or remove the link");
    }
    files.sort(Comparator.naturalOrder());
    return files;
  }

  private Script read(Path file) throws MigrationException {
    String path = folder.relativize(file).toString().replace('\\', '/');
    Matcher name = NAME.matcher(String.valueOf(file.getFileName()));
    if (!name.matches()) {
      throw wrong(
          path + ": the name is none of V<version>__<description>.sql, R__<description>.sql");
    }
    @Nullable Version version = name.group(1) == null ? null : Version.parse(name.group(1));
    String text = text(file, path);
    Options options = options(path, text);
    List<SqlStatement> statements = statements(path, text, options, version == null);
    return new Script(
        version,
        name.group(2).replace('_', ' '),
        path,
        // a repeatable script runs again too when the value of a placeholder changes
        checksum(version == null ? joined(statements) : text),
        options.inTransaction(),
        options.inNewSession(),
        statements);
  }

  private static String joined(List<SqlStatement> statements) {
    return String.join(";\n", statements.stream().map(SqlStatement::sql).toList());
  }

  private String text(Path file, String path) throws MigrationException {
    byte[] bytes;
    try {
      bytes = Files.readAllBytes(file);
    } catch (IOException e) {
      throw unreadable(file, e);
    }
    CharBuffer text = CharBuffer.allocate(bytes.length);
    ByteBuffer left = ByteBuffer.wrap(bytes);
    CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
    CoderResult result = decoder.decode(left, text, /* endOfInput= */ true);
    if (result.isError()) {
      long line = 1 + text.flip().chars().filter(c -> c == '\n').count();
      throw wrong(path + ":" + line + ": byte " + left.position() + " is not UTF-8");
    }
    String all = text.flip().toString();
    return !all.isEmpty() && all.charAt(0) == BYTE_ORDER_MARK ? all.substring(1) : all;
  }

  /** CRC32 over the lines without what ends them, which is Flyway's checksum too. */
  static int checksum(String text) {
    CRC32 crc = new CRC32();
    text.lines().forEach(line -> crc.update(line.getBytes(StandardCharsets.UTF_8)));
    return (int) crc.getValue();
  }

  /**
   * @param valuesCount whether other values of placeholders make another statement of one that is
   *     done
   */
  private List<SqlStatement> statements(
      String path, String text, Options options, boolean valuesCount) throws MigrationException {
    List<SqlStatement> statements = new ArrayList<>();
    for (SqlStatement statement : SqlText.split(path, text, dialect)) {
      String sql = options.placeholders() ? replaced(path, statement) : statement.sql();
      String written = valuesCount ? sql : statement.sql();
      SqlStatement sent = new SqlStatement(statement.line(), sql, written, dialect);
      if (sent.belongsToTheRunner()) {
        throw wrong(
            path
                + ":"
                + sent.line()
                + ": the runner begins and ends transactions and fences the session itself; remove"
                + " this statement");
      }
      statements.add(sent);
    }
    if (statements.isEmpty()) {
      throw wrong(path + ": has no statement");
    }
    return statements;
  }

  private String replaced(String path, SqlStatement statement) throws MigrationException {
    TreeSet<String> missing = new TreeSet<>();
    String sql =
        PLACEHOLDER
            .matcher(statement.sql())
            .replaceAll(
                found -> {
                  String value = placeholders.get(found.group(1));
                  if (value == null) {
                    missing.add("${" + found.group(1) + "}");
                  }
                  return Matcher.quoteReplacement(value == null ? "" : value);
                });
    if (!missing.isEmpty()) {
      throw wrong(path + ":" + statement.line() + ": no value for " + String.join(", ", missing));
    }
    return sql;
  }

  /** What comments such as {@code -- tollgate: transaction=off} say about their script. */
  private record Options(boolean inTransaction, boolean placeholders, boolean inNewSession) {}

  private static Options options(String path, String text) throws MigrationException {
    boolean inTransaction = true;
    boolean placeholders = true;
    boolean inNewSession = false;
    Matcher option = OPTION.matcher(text);
    while (option.find()) {
      switch (option.group(1).strip()) {
        case "transaction=off" -> inTransaction = false;
        case "placeholders=off" -> placeholders = false;
        case "session=new" -> inNewSession = true;
        default ->
            throw wrong(
                path
                    + ": '"
                    + option.group().strip()
                    + "' is none of transaction=off, placeholders=off, session=new");
      }
    }
    return new Options(inTransaction, placeholders, inNewSession);
  }

  private static MigrationException wrong(String message) {
    return new MigrationException(MigrationException.Reason.INPUT, message);
  }

  private static MigrationException unreadable(Path file, IOException why) {
    return new MigrationException(
        MigrationException.Reason.INPUT, file + " cannot be read: " + why.getMessage(), why);
  }
}
