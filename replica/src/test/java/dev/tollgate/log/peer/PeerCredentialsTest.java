package dev.tollgate.log.peer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.UniqueId;
import dev.tollgate.wire.WireFormatException;
import dev.tollgate.wire.WireReader;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Credentials as bytes, of this version and of those before it had admin addresses. */
class PeerCredentialsTest {
  private static final String URL = "https://10.0.0.1:7480";

  /** What n1 of the version before said to n2. */
  private static final String FORMER =
      "01"
          + "000000026e31" // version, from
          + "01"
          + "0000000000000001"
          + "0000000000000002" // its cluster
          + "01"
          + "0000000000000003"
          + "0000000000000004" // its incarnation
          + "000000026e32" // to
          + "01"
          + "0000000000000005"
          + "0000000000000006"; // which incarnation it expects

  private static PeerCredentials credentials(String url) {
    return new PeerCredentials(
        "n1", new UniqueId(1, 2), new UniqueId(3, 4), "n2", new UniqueId(5, 6), url);
  }

  @Test
  void formerVersionsSayNoAdminAddress() {
    assertEquals(credentials(null), PeerCredentials.read(HexFormat.of().parseHex(FORMER)));
  }

  @Test
  void formerVersionsReadTheBeginning() {
    byte[] former = HexFormat.of().parseHex(FORMER);
    for (String url : new String[] {null, URL}) {
      byte[] now = credentials(url).toBytes();
      assertTrue(now.length > former.length);
      assertArrayEquals(former, Arrays.copyOf(now, former.length));
      assertEquals("n1 to n2", readAsFormerVersionsDo(now));
    }
  }

  /** As the code of the version before: it leaves what follows unread. */
  private static String readAsFormerVersionsDo(byte[] bytes) {
    WireReader in = new WireReader(bytes);
    in.u8();
    String from = in.string();
    UniqueId cluster = in.flag() ? new UniqueId(in.i64(), in.i64()) : null;
    UniqueId incarnation = in.flag() ? new UniqueId(in.i64(), in.i64()) : null;
    String to = in.string();
    UniqueId expected = in.flag() ? new UniqueId(in.i64(), in.i64()) : null;
    assertEquals(new UniqueId(1, 2), cluster);
    assertEquals(new UniqueId(3, 4), incarnation);
    assertEquals(new UniqueId(5, 6), expected);
    return from + " to " + to;
  }

  @Test
  void namesThatLookLikeLinesOfALogAreRefused() {
    for (String name : new String[] {"n1\nINFO", "\u001b[31mn1", "\u0085"}) {
      PeerCredentials from = new PeerCredentials(name, null, new UniqueId(3, 4), "n2", null);
      assertThrows(WireFormatException.class, () -> PeerCredentials.read(from.toBytes()), name);
      PeerCredentials to = new PeerCredentials("n2", null, new UniqueId(3, 4), name, null);
      assertThrows(WireFormatException.class, () -> PeerCredentials.read(to.toBytes()), name);
    }
  }

  @Test
  void adminAddressIsRead() {
    assertEquals(URL, PeerCredentials.read(credentials(URL).toBytes()).adminUrl());
    assertNull(PeerCredentials.read(credentials(null).toBytes()).adminUrl());
  }

  @Test
  void fieldsOfLaterVersionsAreLeftUnread() {
    byte[] now = credentials(URL).toBytes();
    byte[] later = Arrays.copyOf(now, now.length + 7);
    assertEquals(credentials(URL), PeerCredentials.read(later));
  }

  @Test
  void credentialsCutAtAnyOtherByteAreNone() {
    byte[] now = credentials(URL).toBytes();
    int former = FORMER.length() / 2;
    for (int length = 0; length < now.length; length++) {
      byte[] cut = Arrays.copyOf(now, length);
      if (length == former) {
        assertNull(PeerCredentials.read(cut).adminUrl());
      } else {
        assertThrows(WireFormatException.class, () -> PeerCredentials.read(cut), length + " bytes");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://127.0.0.1:7480",
        "https://node-1.example.org:1",
        "http://node_1:65535",
        "http://[::1]:7480",
        "https://[2001:db8::7]:7480"
      })
  void addressesOfServersArePassedOn(String url) {
    assertTrue(AdminUrls.isValid(url));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "7480",
        "127.0.0.1:7480",
        "ftp://127.0.0.1:7480",
        "http://127.0.0.1",
        "http://127.0.0.1:7480/",
        "http://127.0.0.1:7480/v1?",
        "http://127.0.0.1:7480\r\nX: y",
        "http://user@127.0.0.1:7480",
        "http://::1:7480",
        "http://[::1",
        "http://[[[:1",
        "http://[fe80::1%eth0]:7480",
        "http://nöde:7480",
        "javascript:alert(1)"
      })
  void allElseIsNot(String url) {
    assertFalse(AdminUrls.isValid(url));
  }

  @Test
  void addressesAreShort() {
    assertTrue(AdminUrls.isValid("http://" + "a".repeat(255) + ":1"));
    assertFalse(AdminUrls.isValid("http://" + "a".repeat(256) + ":1"));
  }
}
