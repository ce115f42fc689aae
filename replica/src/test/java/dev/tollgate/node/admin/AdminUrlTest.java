package dev.tollgate.node.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a node tells the others of its admin address. */
class AdminUrlTest {
  private static @Nullable String url(String configured, @Nullable String clientAddress)
      throws Exception {
    InetAddress address = InetAddress.getAllByName(configured)[0];
    return AdminAddress.url(
        new InetSocketAddress(address, 0), 7480, /* encrypted= */ false, clientAddress);
  }

  @ParameterizedTest
  @CsvSource({
    "127.0.0.1, http://127.0.0.1:7480",
    "10.0.0.2, http://10.0.0.2:7480",
    "::1, http://[0:0:0:0:0:0:0:1]:7480"
  })
  void addressIsTheOneWhereItListens(String configured, String url) throws Exception {
    assertEquals(url, url(configured, "db2.example.org:7400"));
    assertEquals(url, url(configured, null));
  }

  @ParameterizedTest
  @CsvSource({
    "db2.example.org:7400, http://db2.example.org:7480",
    "[2001:db8::2]:7400, http://[2001:db8::2]:7480",
    "2001:db8::2:7400, http://[2001:db8::2]:7480"
  })
  void addressThatListensEverywhereHasTheHostOfClients(String clientAddress, String url)
      throws Exception {
    assertEquals(url, url("0.0.0.0", clientAddress));
    assertEquals(url, url("::", clientAddress));
  }

  @Test
  void addressThatListensEverywhereHasNoUrlWithoutAHost() throws Exception {
    assertNull(url("0.0.0.0", null));
    assertNull(url("0.0.0.0", ":7400"));
    assertNull(url("0.0.0.0", "7400"));
  }

  @Test
  void nameIsKeptAsItWasGiven() {
    InetSocketAddress named = InetSocketAddress.createUnresolved("db1.example.org", 7480);
    assertEquals(
        "https://db1.example.org:40", AdminAddress.url(named, 40, /* encrypted= */ true, null));
  }
}
