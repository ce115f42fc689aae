package dev.tollgate.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.fake.FakeCluster;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import javax.sql.XADataSource;
import org.junit.jupiter.api.Test;

class DriverTest {
  @Test
  void driverManagerFindsIt() throws Exception {
    Driver driver = DriverManager.getDriver("jdbc:tollgate://h1/");
    assertEquals(TollgateDriver.class, driver.getClass());
    assertEquals(0, driver.getMajorVersion());
    assertEquals(1, driver.getMinorVersion());
    assertFalse(driver.jdbcCompliant());
    assertThrows(SQLFeatureNotSupportedException.class, driver::getParentLogger);
  }

  @Test
  void urlsOfOthersAreLeftToThem() throws Exception {
    TollgateDriver driver = new TollgateDriver();
    assertFalse(driver.acceptsURL("jdbc:h2:mem:"));
    assertNull(driver.connect("jdbc:h2:mem:", new Properties()));
    assertNull(driver.connect("jdbc:postgresql://h/", null));
    assertThrows(SQLException.class, () -> driver.connect(null, null));
  }

  @Test
  void propertiesAreDescribed() {
    Properties given = new Properties();
    given.setProperty("lease", "3s");
    DriverPropertyInfo[] infos = new TollgateDriver().getPropertyInfo("jdbc:tollgate://h1/", given);
    assertEquals(TollgateProperty.values().length, infos.length);
    for (DriverPropertyInfo info : infos) {
      assertTrue(info.description.endsWith("."), info.name);
      assertFalse(info.required, info.name);
    }
    DriverPropertyInfo lease = find(infos, "lease");
    assertEquals("3s", lease.value);
    assertEquals(
        List.of("linearizable", "leader", "any"), List.of(find(infos, "readConsistency").choices));
    assertNull(find(infos, "user").choices);
  }

  private static DriverPropertyInfo find(DriverPropertyInfo[] infos, String name) {
    return Arrays.stream(infos).filter(info -> info.name.equals(name)).findFirst().orElseThrow();
  }

  @Test
  void dataSourceSetsWhatTheUrlDoesNot() throws Exception {
    try (FakeCluster cluster = FakeCluster.start(1)) {
      TollgateDataSource source = new TollgateDataSource();
      source.setUrl(cluster.url("productName=X"));
      source.setLease("7s");
      source.setLockWait("2s");
      source.setSessionTimeout("30s");
      source.setFailoverTimeout("4s");
      source.setConnectTimeout("1s");
      source.setSocketTimeout("9s");
      source.setReadConsistency("leader");
      source.setApplicationName("shop");
      source.setProductName("Y");
      source.setFetchSize(10);
      source.setLoginTimeout(5);
      try (Connection connection = source.getConnection("jo", "secret")) {
        assertEquals(FakeCluster.USER, connection.getMetaData().getUserName());
        assertEquals("X", connection.getMetaData().getDatabaseProductName());
        assertEquals("shop", connection.getClientInfo("ApplicationName"));
        assertEquals(9_000, connection.getNetworkTimeout());
      }
      assertNull(source.getUser());
      assertEquals("7s", source.getLease());
      assertTrue(source.isWrapperFor(TollgateDataSource.class));
      assertEquals(source, source.unwrap(javax.sql.DataSource.class));
      assertThrows(SQLException.class, () -> source.unwrap(String.class));
    }
  }

  @Test
  void serializedDataSourceKnowsItsProperties() throws Exception {
    try (FakeCluster cluster = FakeCluster.start(1)) {
      TollgateDataSource source = new TollgateDataSource();
      source.setUrl(cluster.url(""));
      source.setUser("jo");
      source.setPassword("secret");
      source.setApplicationName("shop");
      source.setLoginTimeout(5);
      source.setLogWriter(new PrintWriter(new StringWriter()));
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
        out.writeObject(source);
      }
      try (ObjectInputStream in =
          new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
        TollgateDataSource read = (TollgateDataSource) in.readObject();
        assertEquals(source.getUrl(), read.getUrl());
        assertEquals("jo", read.getUser());
        assertEquals(5, read.getLoginTimeout());
        assertNull(read.getLogWriter());
        try (Connection connection = read.getConnection()) {
          assertEquals("shop", connection.getClientInfo("ApplicationName"));
        }
      }
    }
  }

  @Test
  void dataSourceWithoutAUrlSaysSo() {
    TollgateDataSource source = new TollgateDataSource();
    assertThrows(SQLException.class, source::getConnection);
    source.setUrl("jdbc:h2:mem:");
    SQLException e = assertThrows(SQLException.class, source::getConnection);
    assertTrue(e.getMessage().contains("jdbc:h2:mem:"), e.getMessage());
  }

  @Test
  void dataSourceSaysWhyItIsNoneOfTwoPhaseCommit() throws Exception {
    TollgateDataSource source = new TollgateDataSource();
    assertFalse(source.isWrapperFor(XADataSource.class));
    SQLException refused =
        assertThrows(SQLException.class, () -> source.unwrap(XADataSource.class));
    assertEquals("HYC00", refused.getSQLState());
    assertTrue(String.valueOf(refused.getMessage()).contains("no two-phase commit"));
  }
}
