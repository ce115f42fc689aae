package dev.tollgate.jdbc;

import dev.tollgate.transport.ClusterTarget;
import dev.tollgate.transport.Credentials;
import dev.tollgate.transport.NodeAddress;
import dev.tollgate.transport.SessionSettings;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.SqlState;
import java.lang.System.Logger;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.DateTimeException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.h2.util.TimeZoneProvider;

/**
 * The settings of a connection, from its URL and its properties. If both set a property, the URL
 * wins.
 *
 * @param url as given, without the password
 * @param fetchSize rows per page, 0 to fetch all at once
 * @param lockTimeout how long statements wait for rows; sent only if it differs from the cluster's
 *     default
 */
record ConnectionSettings(
    String url,
    ClusterTarget target,
    SessionSettings session,
    String user,
    String productName,
    int fetchSize,
    Duration lockTimeout) {
  private static final Logger LOG = System.getLogger("dev.tollgate.jdbc");
  private static final String PREFIX = "jdbc:tollgate:";
  private static final String EMBEDDED = "embedded:";
  private static final String MEMORY = "mem:";
  private static final Pattern DURATION = Pattern.compile("(\\d{1,12})(ms|s|m|h)?");

  /** A smaller positive number without a unit is rejected: seconds were meant, not milliseconds. */
  private static final int LEAST_WITHOUT_UNIT = 100;

  /** The properties of which one at most says how the user is proven. */
  private static final Set<TollgateProperty> SECRETS =
      EnumSet.of(
          TollgateProperty.PASSWORD,
          TollgateProperty.PASSWORD_FILE,
          TollgateProperty.TOKEN,
          TollgateProperty.TOKEN_FILE);

  /** True if a URL is for this driver, valid or not. */
  static boolean accepts(String url) {
    return url.startsWith(PREFIX);
  }

  /**
   * Reads a URL that {@link #accepts} accepts.
   *
   * @param properties may include properties of other programs, which frameworks pass on. A
   *     property that looks like a misspelled one of this driver is rejected, as is any unknown
   *     property in the URL
   */
  static ConnectionSettings parse(String url, Properties properties) throws SQLException {
    int question = url.indexOf('?');
    String place = place(url, question);
    Map<TollgateProperty, String> values = new EnumMap<>(TollgateProperty.class);
    for (String key : properties.stringPropertyNames()) {
      if (TollgateProperty.resembles(key)) {
        values.put(known(key, url), properties.getProperty(key));
      } else {
        LOG.log(Logger.Level.INFO, "property ''{0}'' is none of this driver and was left out", key);
      }
    }
    if (question >= 0) {
      Map<TollgateProperty, String> inUrl = new EnumMap<>(TollgateProperty.class);
      readQuery(url, url.substring(question + 1), inUrl);
      // the ways to give a secret are one setting, which the URL wins too
      if (SECRETS.stream().anyMatch(inUrl::containsKey)) {
        values.keySet().removeAll(SECRETS);
      }
      values.putAll(inUrl);
    }
    return new ConnectionSettings(
        withoutPassword(url),
        target(place, values, url),
        session(new Values(values, url), credentials(new Values(values, url), url)),
        values.getOrDefault(TollgateProperty.USER, ""),
        values.getOrDefault(
            TollgateProperty.PRODUCT_NAME, TollgateProperty.PRODUCT_NAME.defaultValue()),
        new Values(values, url).count(TollgateProperty.FETCH_SIZE),
        new Values(values, url).duration(TollgateProperty.LOCK_TIMEOUT));
  }

  private static String place(String url, int question) throws SQLException {
    String place = url.substring(PREFIX.length(), question < 0 ? url.length() : question);
    int semicolon = place.indexOf(';');
    if (semicolon < 0) {
      return place;
    }
    var fault = H2UrlSettings.fault(place.substring(semicolon + 1));
    if (fault.isPresent()) {
      throw wrong(url, fault.get());
    }
    return place.substring(0, semicolon);
  }

  private static void readQuery(String url, String query, Map<TollgateProperty, String> values)
      throws SQLException {
    for (String pair : query.split("&", -1)) {
      if (pair.isEmpty()) {
        continue;
      }
      int equals = pair.indexOf('=');
      if (equals < 0) {
        throw wrong(url, "'" + pair + "' has no value");
      }
      TollgateProperty property = known(decoded(pair.substring(0, equals), url), url);
      values.put(property, decoded(pair.substring(equals + 1), property, url));
    }
  }

  private static String decoded(String key, String url) throws SQLException {
    return decoded(key, "'" + key + "'", url);
  }

  private static String decoded(String value, TollgateProperty property, String url)
      throws SQLException {
    boolean secret = property.isSecret();
    return decoded(value, secret ? "the password" : "'" + value + "'", url);
  }

  private static String decoded(String text, String shown, String url) throws SQLException {
    try {
      return decoded(text);
    } catch (IllegalArgumentException e) {
      throw wrong(url, shown + " has a % that is not followed by two hexadecimal digits");
    }
  }

  private static String decoded(String text) {
    // a plus sign stands for itself, as in other JDBC URLs
    return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  private static Credentials credentials(Values values, String url) throws SQLException {
    Credentials credentials = credentials(values.given(), url);
    if (!values.choice(TollgateProperty.PLAIN_PASSWORD).equals("true")) {
      return credentials;
    }
    try {
      return credentials.sendingPassword();
    } catch (IllegalArgumentException e) {
      throw wrong(url, "plainPassword goes with password or passwordFile: " + e.getMessage());
    }
  }

  private static Credentials credentials(Map<TollgateProperty, String> values, String url)
      throws SQLException {
    String user = values.getOrDefault(TollgateProperty.USER, "");
    String password = values.getOrDefault(TollgateProperty.PASSWORD, "");
    List<TollgateProperty> given =
        SECRETS.stream().filter(property -> !values.getOrDefault(property, "").isEmpty()).toList();
    if (given.size() > 1) {
      throw wrong(
          url,
          given.get(0).key()
              + " and "
              + given.get(1).key()
              + " are both set: leave one of them out");
    }
    String token = values.getOrDefault(TollgateProperty.TOKEN, "");
    if (!token.isEmpty()) {
      return Credentials.ofToken(user, token);
    }
    if (given.contains(TollgateProperty.TOKEN_FILE)) {
      return Credentials.ofTokenFile(user, file(TollgateProperty.TOKEN_FILE, values, url));
    }
    return given.contains(TollgateProperty.PASSWORD_FILE)
        ? Credentials.ofFile(user, file(TollgateProperty.PASSWORD_FILE, values, url))
        : Credentials.ofPassword(user, password);
  }

  private static Path file(
      TollgateProperty property, Map<TollgateProperty, String> values, String url)
      throws SQLException {
    String file = values.getOrDefault(property, "");
    try {
      return Path.of(file);
    } catch (InvalidPathException e) {
      throw wrong(url, property.key() + "=" + file + " is no file: " + e.getReason());
    }
  }

  private static TollgateProperty known(String key, String url) throws SQLException {
    var property = TollgateProperty.find(key);
    if (property.isEmpty()) {
      throw wrong(
          url,
          "there is no property '"
              + key
              + "'; the one most like it is '"
              + TollgateProperty.nearest(key).key()
              + "'");
    }
    return property.get();
  }

  private static ClusterTarget target(
      String place, Map<TollgateProperty, String> values, String url) throws SQLException {
    boolean hasKeys = !values.getOrDefault(TollgateProperty.DATA_KEY_FILE, "").isEmpty();
    if (hasKeys && !place.startsWith(EMBEDDED)) {
      throw wrong(
          url,
          TollgateProperty.DATA_KEY_FILE.key()
              + " is for jdbc:tollgate:embedded:directory alone; a server has its own option");
    }
    if (place.startsWith("//")) {
      try {
        return new ClusterTarget.Remote(nodes(place.substring(2), url), TlsProperties.read(values));
      } catch (IllegalArgumentException e) {
        throw wrong(url, String.valueOf(e.getMessage()));
      }
    }
    if (place.startsWith(EMBEDDED)) {
      String directory = place.substring(EMBEDDED.length());
      if (directory.isEmpty()) {
        throw wrong(url, "after 'embedded:' comes a directory");
      }
      try {
        return new ClusterTarget.Embedded(
            Path.of(directory), hasKeys ? file(TollgateProperty.DATA_KEY_FILE, values, url) : null);
      } catch (InvalidPathException e) {
        throw wrong(url, "'" + directory + "' is no directory: " + e.getReason());
      }
    }
    if (place.startsWith(MEMORY)) {
      return new ClusterTarget.InMemory(place.substring(MEMORY.length()));
    }
    throw wrong(
        url,
        "it is none of jdbc:tollgate://host:port,host:port/, jdbc:tollgate:embedded:directory,"
            + " jdbc:tollgate:mem:name");
  }

  private static List<NodeAddress> nodes(String place, String url) throws SQLException {
    int slash = place.indexOf('/');
    if (slash >= 0 && slash < place.length() - 1) {
      throw wrong(
          url,
          "a cluster has one database, so nothing comes after the slash: remove '"
              + place.substring(slash + 1)
              + "'");
    }
    List<NodeAddress> nodes = new ArrayList<>();
    for (String node : (slash < 0 ? place : place.substring(0, slash)).split(",", -1)) {
      try {
        nodes.add(NodeAddress.parse(node.trim()));
      } catch (IllegalArgumentException e) {
        throw wrong(url, String.valueOf(e.getMessage()));
      }
    }
    return nodes;
  }

  private static SessionSettings session(Values values, Credentials credentials)
      throws SQLException {
    String application = values.text(TollgateProperty.APPLICATION_NAME);
    return new SessionSettings(
        values.positive(TollgateProperty.SESSION_TIMEOUT),
        values.positive(TollgateProperty.LEASE),
        values.duration(TollgateProperty.LOCK_WAIT),
        values.positive(TollgateProperty.FAILOVER_TIMEOUT),
        values.positive(TollgateProperty.CONNECT_TIMEOUT),
        values.duration(TollgateProperty.SOCKET_TIMEOUT),
        ReadConsistency.valueOf(
            values.choice(TollgateProperty.READ_CONSISTENCY).toUpperCase(Locale.ROOT)),
        application.isEmpty() ? applicationOfThisProcess() : application,
        credentials,
        timeZone(values));
  }

  /** The name of the time zone of the session, as H2 spells it. */
  private static String timeZone(Values values) throws SQLException {
    String name = values.text(TollgateProperty.TIME_ZONE);
    try {
      // not DateTimeUtils.getTimeZone: that is the default of when H2 was loaded
      return (name.isEmpty() ? TimeZoneProvider.getDefault() : TimeZoneProvider.ofId(name)).getId();
    } catch (DateTimeException | IllegalArgumentException e) {
      throw wrong(
          values.url(),
          name.isEmpty()
              ? "the default time zone of this JVM is none that Java has rules for: set timeZone"
              : "timeZone="
                  + name
                  + " is no time zone: write a region such as Europe/Berlin, or an offset such as"
                  + " UTC+05:45");
    }
  }

  /** The name of the main class or jar, which the JVM keeps in its command line. */
  private static String applicationOfThisProcess() {
    String command = System.getProperty("sun.java.command", "");
    String main = command.split(" ", 2)[0];
    if (main.isEmpty()) {
      return "java";
    }
    boolean jar = main.endsWith(".jar");
    return main.substring(
        1 + (jar ? main.replace('\\', '/').lastIndexOf('/') : main.lastIndexOf('.')));
  }

  /**
   * Leaves out a password, and what may be one: a property whose name is nearly that, and all
   * settings of H2.
   */
  private static String withoutPassword(String given) {
    int end = given.indexOf('?');
    int semicolon = given.indexOf(';');
    String url =
        semicolon < 0 || (end >= 0 && end < semicolon)
            ? given
            : given.substring(0, semicolon) + (end < 0 ? "" : given.substring(end));
    int question = url.indexOf('?');
    if (question < 0) {
      return url;
    }
    String query =
        Arrays.stream(url.substring(question + 1).split("&", -1))
            .filter(pair -> !TollgateProperty.mayBePassword(shownKey(pair)))
            .collect(Collectors.joining("&"));
    String place = url.substring(0, question);
    return query.isEmpty() ? place : place + "?" + query;
  }

  private static String shownKey(String pair) {
    String key = pair.split("=", 2)[0];
    try {
      return decoded(key);
    } catch (IllegalArgumentException e) {
      return key;
    }
  }

  private static SQLException wrong(String url, String what) {
    return JdbcErrors.exception(
        SqlState.INVALID_ARGUMENT, "URL " + withoutPassword(url) + ": " + what);
  }

  /** Property values, converted to their types. */
  private record Values(Map<TollgateProperty, String> given, String url) {
    String text(TollgateProperty property) {
      return given.getOrDefault(property, property.defaultValue()).trim();
    }

    Duration duration(TollgateProperty property) throws SQLException {
      String text = text(property);
      Matcher matcher = DURATION.matcher(text);
      if (!matcher.matches()) {
        throw wrong(
            url,
            property.key()
                + "="
                + text
                + " is no duration: write 500ms, 15s, 2m, 1h, or a number of milliseconds");
      }
      long number = Long.parseLong(matcher.group(1));
      String unit = matcher.group(2);
      if (unit == null && number > 0 && number < LEAST_WITHOUT_UNIT) {
        throw wrong(
            url,
            property.key()
                + "="
                + text
                + " is "
                + number
                + " milliseconds: write "
                + number
                + "s for seconds, or "
                + number
                + "ms if you mean so few");
      }
      return unit == null || unit.equals("ms")
          ? Duration.ofMillis(number)
          : unit.equals("s")
              ? Duration.ofSeconds(number)
              : unit.equals("m") ? Duration.ofMinutes(number) : Duration.ofHours(number);
    }

    Duration positive(TollgateProperty property) throws SQLException {
      Duration duration = duration(property);
      if (duration.isZero()) {
        throw wrong(url, property.key() + " must be longer than 0");
      }
      return duration;
    }

    int count(TollgateProperty property) throws SQLException {
      String text = text(property);
      if (!text.matches("\\d{1,9}")) {
        throw wrong(url, property.key() + "=" + text + " is no count");
      }
      return Integer.parseInt(text);
    }

    String choice(TollgateProperty property) throws SQLException {
      for (String choice : property.choices()) {
        if (choice.equalsIgnoreCase(text(property))) {
          return choice;
        }
      }
      throw wrong(
          url,
          property.key()
              + "="
              + text(property)
              + " is none of "
              + String.join(", ", property.choices()));
    }
  }
}
