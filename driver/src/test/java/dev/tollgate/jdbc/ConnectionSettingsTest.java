package dev.tollgate.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.tls.TlsMode;
import dev.tollgate.tls.TlsSettings;
import dev.tollgate.transport.ClusterTarget;
import dev.tollgate.wire.ReadConsistency;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.TimeZone;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConnectionSettingsTest {
  private static ConnectionSettings parse(String url) throws SQLException {
    return ConnectionSettings.parse(url, new Properties());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "jdbc:tollgate://h1                      | h1:7400",
        "jdbc:tollgate://h1/                     | h1:7400",
        "jdbc:tollgate://h1:1,h2:2,h3:3/         | h1:1,h2:2,h3:3",
        "jdbc:tollgate://h1:1, h2                | h1:1,h2:7400",
        "jdbc:tollgate://[::1]:7401/?lease=15s   | [::1]:7401",
        "jdbc:tollgate://[fe80::1],10.0.0.1      | [fe80::1]:7400,10.0.0.1:7400",
        "jdbc:tollgate://h1?lease=15s            | h1:7400",
        "jdbc:tollgate:mem:test                  | mem:test",
        "jdbc:tollgate:mem:                      | mem:",
        "jdbc:tollgate:mem:?lease=1s             | mem:",
      })
  void targets(String url, String target) throws Exception {
    assertEquals(target, parse(url).target().toString());
  }

  @Test
  void embeddedDirectoriesAreTheSameHoweverTheyAreWritten() throws Exception {
    ClusterTarget expected = new ClusterTarget.Embedded(Path.of("data"), null);
    assertEquals(expected, parse("jdbc:tollgate:embedded:./data").target());
    assertEquals(expected, parse("jdbc:tollgate:embedded:x/../data?lease=1s").target());
  }

  @Test
  void dataKeysAreAPartOfAnEmbeddedTarget() throws Exception {
    assertEquals(
        new ClusterTarget.Embedded(Path.of("data"), Path.of("keys")),
        parse("jdbc:tollgate:embedded:data?dataKeyFile=x/../keys").target());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "jdbc:tollgate:                          | none of jdbc:tollgate://",
        "jdbc:tollgate:host                      | none of jdbc:tollgate://",
        "jdbc:tollgate://                        | without a host name",
        "jdbc:tollgate://h1,                     | without a host name",
        "jdbc:tollgate://:7400                   | without a host name",
        "jdbc:tollgate://h1:x                    | a colon and a port",
        "jdbc:tollgate://h1:0                    | 1 to 65535",
        "jdbc:tollgate://h1:65536                | 1 to 65535",
        "jdbc:tollgate://::1/                    | in brackets",
        "jdbc:tollgate://[::1/                   | not closed",
        "jdbc:tollgate://[::1]7400/              | a colon and a port",
        "jdbc:tollgate://h1/orders               | remove 'orders'",
        "jdbc:tollgate:embedded:                 | comes a directory",
        "jdbc:tollgate://h1/?lease               | has no value",
        "jdbc:tollgate://h1/?dataKeyFile=k       | for jdbc:tollgate:embedded:directory alone",
        "jdbc:tollgate:mem:a?dataKeyFile=k       | for jdbc:tollgate:embedded:directory alone",
        "jdbc:tollgate://h1/?leese=15s           | most like it is 'lease'",
        "jdbc:tollgate://h1/?lock_wait=1         | most like it is 'lockWait'",
        "jdbc:tollgate://h1/?failoverTime=1      | most like it is 'failoverTimeout'",
        "jdbc:tollgate://h1/?lease=15x           | 500ms, 15s, 2m, 1h",
        "jdbc:tollgate://h1/?lease=-1            | 500ms, 15s, 2m, 1h",
        "jdbc:tollgate://h1/?lease=0             | longer than 0",
        "jdbc:tollgate://h1/?lease=5             | lease=5 is 5 milliseconds: write 5s for seconds",
        "jdbc:tollgate://h1/?lockWait=99         | lockWait=99 is 99 milliseconds",
        "jdbc:tollgate://h1/?connectTimeout=0s   | longer than 0",
        "jdbc:tollgate://h1/?fetchSize=many      | no count",
        "jdbc:tollgate://h1/?readConsistency=old | linearizable, leader, any",
        "jdbc:tollgate://h1/?timeZone=Berlin     | timeZone=Berlin is no time zone",
        "jdbc:tollgate://h1/?applicationName=%G1 | hexadecimal",
      })
  void whatIsWrongIsSaid(String url, String part) {
    SQLException e = assertThrows(SQLException.class, () -> parse(url));
    assertTrue(e.getMessage().contains(part), e.getMessage());
    assertTrue(e.getMessage().contains(url), e.getMessage());
    assertEquals("22023", e.getSQLState());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "mem:t;MODE=PostgreSQL            | ';MODE' is a setting of H2's URLs",
        "embedded:./data;mode=MySQL       | the mode REGULAR alone",
        "//h1/;NON_KEYWORDS=VALUE         | double quotes",
        "mem:t;DB_CLOSE_DELAY=-1;INIT=X   | as a migration",
        "mem:;LOCK_TIMEOUT=5000           | ?lockTimeout=",
        "mem:t;DATABASE_TO_UPPER=FALSE    | upper case",
        "mem:t;USER=sa;PASSWORD=geheim    | ?user=name",
        "mem:t;PASSWORD=geheim            | beside the URL",
        "mem:t;geheim                     | has no value",
        "mem:t;TRACE_LEVEL_FILE=geheim    | ';TRACE_LEVEL_FILE'",
      })
  void settingOfH2ThatDoesNotHoldIsRefused(String place, String part) {
    SQLException e = assertThrows(SQLException.class, () -> parse("jdbc:tollgate:" + place));
    assertTrue(e.getMessage().contains(part), e.getMessage());
    assertFalse(e.getMessage().toLowerCase(Locale.ROOT).contains("geheim"), e.getMessage());
    assertEquals("22023", e.getSQLState());
  }

  @Test
  void settingOfH2ThatHoldsIsAccepted() throws Exception {
    String settings =
        ";DB_CLOSE_DELAY=-1;DB_CLOSE_ON_EXIT=FALSE;Mode=Regular;DATABASE_TO_UPPER=true;";
    ConnectionSettings memory = parse("jdbc:tollgate:mem:t" + settings + "?lease=3s");
    assertEquals(new ClusterTarget.InMemory("t"), memory.target());
    assertEquals(Duration.ofSeconds(3), memory.session().lease());
    assertEquals("jdbc:tollgate:mem:t?lease=3s", memory.url());
    assertEquals(
        new ClusterTarget.Embedded(Path.of("data"), null),
        parse("jdbc:tollgate:embedded:data" + settings).target());
  }

  @ParameterizedTest
  @CsvSource({
    "500ms,500",
    "15s,15000",
    "2m,120000",
    "1h,3600000",
    "5ms,5",
    "100,100",
    "250,250",
    "0,0"
  })
  void durations(String text, long millis) throws Exception {
    assertEquals(
        Duration.ofMillis(millis),
        parse("jdbc:tollgate://h1/?socketTimeout=" + text).session().network());
  }

  @Test
  void defaults() throws Exception {
    ConnectionSettings settings = parse("jdbc:tollgate://h1/");
    assertEquals(Duration.ofSeconds(15), settings.session().lease());
    assertEquals(Duration.ofSeconds(10), settings.session().lockWait());
    assertEquals(Duration.ofSeconds(60), settings.session().session());
    assertEquals(Duration.ofSeconds(10), settings.session().failover());
    assertEquals(Duration.ofSeconds(3), settings.session().connect());
    assertEquals(Duration.ZERO, settings.session().network());
    assertEquals(ReadConsistency.LINEARIZABLE, settings.session().readConsistency());
    assertEquals("H2", settings.productName());
    assertEquals(0, settings.fetchSize());
    assertFalse(settings.session().application().isEmpty());
  }

  @ParameterizedTest
  @CsvSource({
    "Europe/Berlin,Europe/Berlin",
    "%2B05:45,GMT+05:45",
    "+05:45,GMT+05:45",
    "GMT-3,GMT-03:00",
    "Z,UTC",
    "PST,America/Los_Angeles"
  })
  void timeZones(String text, String name) throws Exception {
    assertEquals(name, parse("jdbc:tollgate://h1/?timeZone=" + text).session().timeZone());
  }

  /** H2 would keep the zone that the process had when its classes were loaded. */
  @Test
  @ResourceLock(Resources.TIME_ZONE)
  void timeZoneIsThatOfTheProcessAtTheMoment() throws Exception {
    TimeZone before = TimeZone.getDefault();
    try {
      for (String name : List.of("Asia/Kathmandu", "America/New_York", "UTC")) {
        TimeZone.setDefault(TimeZone.getTimeZone(name));
        assertEquals(name, parse("jdbc:tollgate://h1/").session().timeZone());
      }
    } finally {
      TimeZone.setDefault(before);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"leese", "lock_wait", "ApplicationNames", "fetchsise"})
  void misspeltPropertyBesideTheUrlIsRefused(String key) {
    Properties properties = new Properties();
    properties.setProperty(key, "1");
    SQLException failure =
        assertThrows(
            SQLException.class, () -> ConnectionSettings.parse("jdbc:tollgate://h1/", properties));
    assertTrue(failure.getMessage().contains("'" + key + "'"), failure.getMessage());
  }

  /** Frameworks hand on what they were configured with. */
  @Test
  void propertyOfAnotherProgramBesideTheUrlIsLeftOut() throws Exception {
    Properties properties = new Properties();
    properties.setProperty("hibernate.jdbc.batch_size", "50");
    properties.setProperty("useSSL", "false");
    properties.setProperty("LEASE", "3s");
    assertEquals(
        Duration.ofSeconds(3),
        ConnectionSettings.parse("jdbc:tollgate://h1/", properties).session().lease());
  }

  @Test
  void theUrlWinsOverProperties() throws Exception {
    Properties properties = new Properties();
    properties.setProperty("lease", "1s");
    properties.setProperty("LOCKWAIT", "2s");
    properties.setProperty("user", "jo");
    ConnectionSettings settings =
        ConnectionSettings.parse(
            "jdbc:tollgate://h1/?Lease=7s&applicationName=a%20b+c&", properties);
    assertEquals(Duration.ofSeconds(7), settings.session().lease());
    assertEquals(Duration.ofSeconds(2), settings.session().lockWait());
    assertEquals("jo", settings.user());
    assertEquals("a b+c", settings.session().application());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "jdbc:tollgate://h/?password=x           | jdbc:tollgate://h/",
        "jdbc:tollgate://h/?password=x&lease=1s  | jdbc:tollgate://h/?lease=1s",
        "jdbc:tollgate://h/?lease=1s&password=x  | jdbc:tollgate://h/?lease=1s",
        "jdbc:tollgate://h/?sslKeyStorePassword=x&sslMode=require | jdbc:tollgate://h/?sslMode=require",
        "jdbc:tollgate://h/?ssl=true&sslkeypassword=x | jdbc:tollgate://h/?ssl=true",
        "jdbc:tollgate://h/?user=a&Password=x&lease=1s | jdbc:tollgate://h/?user=a&lease=1s",
      })
  void passwordsDoNotShow(String url, String shown) throws Exception {
    assertEquals(shown, parse(url).url());
    SQLException e = assertThrows(SQLException.class, () -> parse(url + "&wrong=1"));
    assertFalse(e.getMessage().contains("=x"), e.getMessage());
  }

  private static TlsSettings tls(String query) throws Exception {
    return ((ClusterTarget.Remote)
            ConnectionSettings.parse("jdbc:tollgate://h/?" + query, new Properties()).target())
        .tls();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "lease=1s                          | PREFER",
        "sslMode=prefer                    | PREFER",
        "sslMode=prefer&sslRootCert=a      | VERIFY_FULL",
        "ssl=false                         | DISABLE",
        "ssl=false&sslRootCert=a           | DISABLE",
        "ssl=true                          | VERIFY_FULL",
        "sslRootCert=a                     | VERIFY_FULL",
        "sslmode=VERIFY-FULL               | VERIFY_FULL",
        "sslMode=verify-ca&sslRootCert=a   | VERIFY_CA",
        "ssl=true&sslMode=require          | REQUIRE",
        "sslMode=disable&sslRootCert=a     | DISABLE",
        "sslMinVersion=1.2                 | VERIFY_FULL",
      })
  void anyTlsPropertyMeansAllChecks(String query, TlsMode mode) throws Exception {
    assertEquals(mode, tls(query).mode());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ssl=yes                   | ssl=yes is neither true nor false",
        "sslMode=allow             | sslMode=allow is none of prefer, disable, require, verify-ca, verify-full",
        "sslCert=a                 | sslCert and sslKey belong together",
        "sslCert=a&sslKey=b&sslKeyStore=c | but not both",
        "sslMinVersion=1.1&ssl=true | '1.1' is no version of TLS",
      })
  void wrongTlsPropertiesAreNamed(String query, String message) {
    SQLException wrong = assertThrows(SQLException.class, () -> tls(query));
    assertTrue(wrong.getMessage().contains(message), wrong.getMessage());
  }

  @Test
  void otherCertificatesAreAnotherTarget() throws Exception {
    assertEquals(tls("sslRootCert=a"), tls("sslRootCert=a&lease=3s"));
    assertNotEquals(tls("sslRootCert=a"), tls("sslRootCert=b"));
    assertFalse(tls("sslKeyStore=a&sslKeyStorePassword=sesame").toString().contains("sesame"));
  }

  /** Frameworks pass properties of their own, and "url" is no misspelled "ssl". */
  @Test
  void shortNamesOfOthersAreLeftOut() throws Exception {
    Properties others = new Properties();
    others.setProperty("url", "x");
    assertEquals(
        TlsMode.PREFER,
        ((ClusterTarget.Remote) ConnectionSettings.parse("jdbc:tollgate://h/", others).target())
            .tls()
            .mode());
  }
}
