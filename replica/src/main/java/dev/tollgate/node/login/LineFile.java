package dev.tollgate.node.login;

import dev.tollgate.core.command.Limits;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A file of lines of words, in UTF-8. Words are separated by white space; one that has white space
 * or begins with # stands in double quotes, in which a quote is written twice. What follows # is a
 * comment.
 */
public final class LineFile {
  /** A word, or a text in double quotes in which a quote is written twice. */
  private static final Pattern WORD =
      Pattern.compile("\\G\\s*(?:\"((?:[^\"]++|\"\")*+)\"|([^\\s\"]+))");

  private LineFile() {}

  /**
   * Reads a file.
   *
   * @param reader makes something of the words of a line, of which there is at least one; throws
   *     IllegalArgumentException if it cannot
   * @throws IOException if the file cannot be read, or a line of it, whose number is in the message
   */
  public static <T> List<T> read(Path file, Function<List<String>, T> reader) throws IOException {
    if (Files.size(file) > Limits.LOGIN_FILE_BYTES) {
      throw new IOException(file + " has more than " + Limits.LOGIN_FILE_BYTES + " bytes");
    }
    return parse(file.toString(), Files.readAllBytes(file), reader);
  }

  static <T> List<T> parse(String file, byte[] bytes, Function<List<String>, T> reader)
      throws IOException {
    String text;
    try {
      text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw new IOException(file + " is no UTF-8", e);
    }
    List<T> lines = new ArrayList<>();
    int number = 0;
    for (String line : text.lines().toList()) {
      number++;
      try {
        List<String> words = words(line);
        if (!words.isEmpty()) {
          lines.add(reader.apply(words));
        }
      } catch (IllegalArgumentException e) {
        throw new IOException(file + ", line " + number + ": " + e.getMessage(), e);
      }
    }
    if (lines.isEmpty() || lines.size() > Limits.LOGIN_FILE_LINES) {
      throw new IOException(
          file
              + " has to have 1 to "
              + Limits.LOGIN_FILE_LINES
              + " lines, and has "
              + lines.size());
    }
    return lines;
  }

  private static List<String> words(String line) {
    List<String> words = new ArrayList<>();
    Matcher word = WORD.matcher(line);
    int end = 0;
    while (word.find() && !isComment(word)) {
      words.add(word.group(1) != null ? word.group(1).replace("\"\"", "\"") : word.group(2));
      end = word.end();
    }
    String rest = line.substring(end).strip();
    if (!rest.isEmpty() && !rest.startsWith("#")) {
      throw new IllegalArgumentException("a quote does not end");
    }
    return words;
  }

  private static boolean isComment(Matcher word) {
    return word.group(2) != null && word.group(2).startsWith("#");
  }
}
