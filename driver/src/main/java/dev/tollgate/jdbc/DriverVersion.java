package dev.tollgate.jdbc;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The version of this driver, which the build writes beside this class. */
final class DriverVersion {
  static final String NAME = "Tollgate JDBC Driver";
  static final String TEXT = read();
  static final int MAJOR = number(1);
  static final int MINOR = number(2);

  private DriverVersion() {}

  private static String read() {
    try (InputStream in = DriverVersion.class.getResourceAsStream("version.properties")) {
      Properties properties = new Properties();
      if (in != null) {
        properties.load(in);
      }
      return properties.getProperty("version", "0.0");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int number(int place) {
    Matcher matcher = Pattern.compile("(\\d+)\\.(\\d+).*").matcher(TEXT);
    return matcher.matches() ? Integer.parseInt(matcher.group(place)) : 0;
  }
}
