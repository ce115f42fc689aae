package dev.tollgate.transport;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.tls.TlsFiles;
import dev.tollgate.tls.TlsMode;
import dev.tollgate.tls.TlsSettings;
import dev.tollgate.tls.TlsVersion;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ClusterTlsTest {
  private static final NodeAddress NODE = new NodeAddress("db.example", 7400);

  /** The connections of a pool begin at once, and each learns for itself that there is no TLS. */
  @Test
  void manyConnectionsMayLearnAtOnceThatANodeHasNoTls() {
    ClusterTls tls = new ClusterTls(TlsSettings.DEFAULT);
    assertTrue(tls.doWithout(NODE));
    assertTrue(tls.doWithout(NODE));
  }

  @ParameterizedTest
  @EnumSource(value = TlsMode.class, mode = EnumSource.Mode.EXCLUDE, names = "PREFER")
  void noOtherModeDoesWithoutTls(TlsMode mode) {
    ClusterTls tls = new ClusterTls(new TlsSettings(mode, TlsFiles.NONE, TlsVersion.TLS_1_3));
    assertFalse(tls.doWithout(NODE));
  }
}
