package dev.tollgate.cli.configuration;

import java.io.IOException;
import java.io.Reader;
import java.io.StringReader;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/**
 * Settings from a file of {@link Properties}, in UTF-8. Every key is the name of an option without
 * its hyphens, and occurs once.
 */
final class ConfigurationFile {
  /** More is no configuration, but a file that was named by mistake. */
  static final int MAX_BYTES = 256 << 10;

  private ConfigurationFile() {}

  /**
   * Reads a file.
   *
   * @throws IOException if the file cannot be read, or has a key that is no setting; the message
   *     never has a value
   */
  static Map<String, String> read(Path file, SettingNames settings) throws IOException {
    Lines lines = new Lines();
    try (Reader text = new StringReader(text(file))) {
      lines.load(text);
    } catch (IllegalArgumentException e) {
      throw new IOException(
          "the configuration file "
              + file
              + " has a backslash with u that is not followed by four hexadecimal digits: write two"
              + " backslashes for one",
          e);
    }
    List<String> refusals = new ArrayList<>();
    lines.repeated.forEach(key -> refusals.add("'" + key + "' is given twice"));
    for (String key : lines.values.keySet()) {
      if (!settings.contains(key)) {
        refusals.add(refusal(key, settings));
      }
    }
    if (!refusals.isEmpty()) {
      refusals.sort(null);
      throw new IOException("the configuration file " + file + ": " + String.join("; ", refusals));
    }
    return Map.copyOf(lines.values);
  }

  private static String text(Path file) throws IOException {
    try {
      if (Files.isDirectory(file)) {
        throw new IOException("the configuration file " + file + " is a directory");
      }
      if (Files.size(file) > MAX_BYTES) {
        throw new IOException(
            "the configuration file " + file + " has more than " + MAX_BYTES + " bytes");
      }
      return StandardCharsets.UTF_8
          .newDecoder()
          .decode(ByteBuffer.wrap(Files.readAllBytes(file)))
          .toString();
    } catch (FileSystemException e) {
      throw new IOException("the configuration file " + file + " " + reason(e), e);
    } catch (CharacterCodingException e) {
      throw new IOException("the configuration file " + file + " is not UTF-8", e);
    }
  }

  private static String reason(FileSystemException e) {
    if (e instanceof NoSuchFileException) {
      return "is not there";
    }
    return e instanceof AccessDeniedException
        ? "may not be read by this user"
        : "cannot be read: " + e.getReason();
  }

  private static String refusal(String key, SettingNames settings) {
    if (settings.contains(key + "-file")) {
      return "'"
          + key
          + "' would be a secret in this file: write "
          + key
          + "-file, with the path of a file that has it";
    }
    String variable = SettingNames.variable(key);
    if (EnvironmentNames.OF_THE_LAUNCHER.contains(variable)) {
      return "'" + key + "' is read before this file is: set " + variable + " in the environment";
    }
    return "'" + key + "' is no setting of a node; the nearest is " + settings.nearest(key);
  }

  /** {@link Properties} keeps the last value of a key that occurs twice, without a word. */
  private static final class Lines extends Properties {
    private static final long serialVersionUID = 1;

    private final transient Map<String, String> values = new HashMap<>();
    private final transient List<String> repeated = new ArrayList<>();

    @Override
    public synchronized Object put(Object key, Object value) {
      String name = key.toString();
      if (values.put(name, value.toString().strip()) != null && !repeated.contains(name)) {
        repeated.add(name);
      }
      return super.put(key, value);
    }

    @Override
    public synchronized boolean equals(Object other) {
      return this == other;
    }

    @Override
    public synchronized int hashCode() {
      return System.identityHashCode(this);
    }
  }
}
