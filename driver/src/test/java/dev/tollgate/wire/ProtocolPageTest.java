package dev.tollgate.wire;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The numbers and tables of docs/protocol.md are those of the code. */
class ProtocolPageTest {
  private static ProtocolPage page;

  @BeforeAll
  static void readPage() throws IOException {
    page = ProtocolPage.read();
  }

  private static Map<String, String> messages(int column) {
    Map<String, String> messages = new TreeMap<>();
    for (List<String> row : page.rows("type")) {
      messages.put(row.get(0).toUpperCase(Locale.ROOT), row.get(column).split(" ", 2)[0]);
    }
    return messages;
  }

  private static String code(int type) {
    return String.format(Locale.ROOT, "0X%02X", type);
  }

  @Test
  void everyMessageHasItsNumber() {
    Map<String, String> inCode = new TreeMap<>();
    Samples.REQUESTS.forEach(
        each -> inCode.put(code(each.type()), each.getClass().getSimpleName()));
    Samples.REPLIES.forEach(each -> inCode.put(code(each.type()), each.getClass().getSimpleName()));
    assertEquals(inCode, messages(1));
  }

  @Test
  void everyMessageHasTheFieldsOfItsRow() {
    Map<String, String> bodies = new TreeMap<>();
    page.rows("type").forEach(row -> bodies.put(row.get(0).toUpperCase(Locale.ROOT), row.get(2)));
    List<Frame> frames = new ArrayList<>();
    Samples.REQUESTS.forEach(each -> frames.add(Samples.frame(each)));
    Samples.REPLIES.forEach(each -> frames.add(Samples.frame(each)));
    assertAll(
        frames.stream()
            .map(
                frame ->
                    () -> {
                      String fields = bodies.get(code(frame.type()));
                      assertDoesNotThrow(() -> page.read(frame.body(), fields), fields);
                    }));
  }

  @Test
  void fieldsOfAnotherOrderAreNoticed() {
    WireWriter body = new WireWriter();
    body.string("n").i64(7);
    byte[] bytes = body.toByteArray();
    assertDoesNotThrow(() -> page.read(bytes, "name string, number i64 (ms)"));
    assertThrows(WireFormatException.class, () -> page.read(bytes, "number i64, name string"));
  }

  @Test
  void limitsAreThoseOfTheCode() {
    Map<String, Integer> inCode =
        Map.of(
            "length of a frame",
            Protocol.MAX_FRAME_BYTES,
            "length of a frame before Welcome or LoggedIn (Hello, BeginLogin, ContinueLogin)",
            Protocol.MAX_HELLO_BYTES,
            "ids in one heartbeat, of each kind",
            Protocol.MAX_HEARTBEAT_IDS,
            "locks in one WatchLocks",
            Protocol.MAX_WATCHED_LOCKS,
            "parameter sets in one batch",
            Protocol.MAX_BATCH_SETS,
            "statements in one series",
            Protocol.MAX_SERIES_STATEMENTS,
            "values in the parameter sets of one request, with each element of an array or a row; beyond"
                + " that, Failure 54000",
            Protocol.MAX_VALUES,
            "page of rows: ends with the row that takes it to",
            Protocol.PAGE_BYTES,
            "bytes of a snapshot in one reply",
            Protocol.MAX_SNAPSHOT_PART_BYTES);
    Map<String, Integer> onPage = new TreeMap<>();
    for (List<String> row : page.rows("limit")) {
      String number = row.get(1).split(" ", 2)[0].replace(",", "");
      onPage.put(row.get(0), Integer.parseInt(number));
    }
    assertEquals(new TreeMap<>(inCode), onPage);
  }

  @Test
  void versionMagicAndPortAreThoseOfTheCode() {
    assertTrue(page.text().contains("It describes version " + Protocol.VERSION + "."));
    assertTrue(page.text().contains(String.format("`0x%08X`", Protocol.MAGIC)));
    assertTrue(page.text().contains("The port is " + Protocol.DEFAULT_PORT + " where"));
    assertTrue(page.text().contains("bytes that follow: " + Protocol.HEADER_BYTES + " + body"));
    assertEquals(
        Stream.of(
                Protocol.CLUSTER_ID_VERSION,
                Protocol.NODE_STATUS_VERSION,
                Protocol.HOLDER_VERSION,
                Protocol.SERIES_VERSION,
                Protocol.LEADER_VERSION,
                Protocol.LOGIN_VERSION,
                Protocol.LOSSES_VERSION,
                Protocol.LOCK_WATCH_VERSION,
                Protocol.TIME_ZONE_VERSION)
            .distinct()
            .map(String::valueOf)
            .toList(),
        page.rows("version").stream().map(row -> row.get(0)).toList());
  }

  @Test
  void statesAreThoseOfTheCode() {
    assertEquals(
        Arrays.stream(SqlState.values())
            .map(state -> state.state() + " " + state.vendorCode())
            .sorted()
            .toList(),
        page.rows("state").stream().map(row -> row.get(0) + " " + row.get(1)).sorted().toList());
  }
}
