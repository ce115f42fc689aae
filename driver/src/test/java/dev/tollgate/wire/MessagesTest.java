package dev.tollgate.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class MessagesTest {
  static List<Request> requests() {
    return Samples.REQUESTS;
  }

  static List<Reply> replies() {
    return Samples.REPLIES;
  }

  @ParameterizedTest
  @MethodSource("requests")
  void aRequestIsReadAsItWasWritten(Request request) {
    Frame frame = Samples.frame(request);
    Request read = Request.read(frame);
    assertEquals(request.getClass(), read.getClass());
    assertArrayEquals(frame.body(), Samples.frame(read).body());
  }

  @ParameterizedTest
  @MethodSource("replies")
  void aReplyIsReadAsItWasWritten(Reply reply) {
    Frame frame = Samples.frame(reply);
    Reply read = Reply.read(frame);
    assertEquals(reply.getClass(), read.getClass());
    assertArrayEquals(frame.body(), Samples.frame(read).body());
  }

  @Test
  void everyMessageIsAmongTheSamplesAndHasItsOwnCode() {
    assertEquals(
        Set.of(Request.class.getPermittedSubclasses()),
        Samples.REQUESTS.stream().map(Object::getClass).collect(Collectors.toSet()));
    assertEquals(
        Set.of(Reply.class.getPermittedSubclasses()),
        Samples.REPLIES.stream().map(Object::getClass).collect(Collectors.toSet()));
    Set<Integer> codes = new HashSet<>();
    Samples.REQUESTS.forEach(request -> codes.add(request.type()));
    Samples.REPLIES.forEach(reply -> codes.add(reply.type()));
    assertEquals(
        Request.class.getPermittedSubclasses().length + Reply.class.getPermittedSubclasses().length,
        codes.size());
  }

  @Test
  void fieldsKeepTheirValues() {
    Request.Execute execute =
        (Request.Execute) Request.read(Samples.frame(Samples.REQUESTS.get(6)));
    assertEquals(Long.MAX_VALUE, execute.sequence());
    assertTrue(execute.batch());
    assertEquals(new KeyRequest.Names(List.of("ID", "")), execute.keys());
    assertEquals(10, execute.maxRows());
    assertEquals(20, execute.pageRows());
    assertArrayEquals(new byte[] {1, 2, 3}, execute.parameterSets().get(1));
    Reply.Welcome welcome = (Reply.Welcome) Reply.read(Samples.frame(Samples.REPLIES.get(0)));
    assertEquals("h1:7400", welcome.cluster().leaderAddress());
    assertEquals(List.of("h1:7400", "[::1]:7401"), welcome.cluster().addresses());
  }

  @Test
  void aFrameIsReadAsItWasWritten() {
    Frame frame = new Frame(0xfe, 300, -3, 1234, new byte[] {7});
    WireWriter out = new WireWriter();
    frame.writeHeader(out);
    out.raw(frame.body(), 0, 1);
    WireReader in = new WireReader(out.toByteArray());
    assertEquals(frame.lengthBytes(), in.i32());
    Frame read = Frame.read(in);
    assertEquals(0xfe, read.type());
    assertEquals(255, read.losses(), "or more");
    assertEquals(-3, read.requestId());
    assertEquals(1234, read.deadlineMillis());
    assertArrayEquals(frame.body(), read.body());
  }

  private static Frame series(long sequence, TransactionMode mode, int statements) {
    List<Request.SeriesStatement> all =
        Collections.nCopies(statements, new Request.SeriesStatement("X", new byte[] {0, 0}));
    return Samples.frame(new Request.ExecuteSeries(sequence, true, mode, SeriesEnding.COMMIT, all));
  }

  static Stream<Frame> wrong() {
    return Stream.of(
        // a series without a number, without statements, or that commits what it does not begin
        series(0, TransactionMode.READ_COMMITTED, 1),
        series(1, TransactionMode.READ_COMMITTED, 0),
        series(1, TransactionMode.AUTOCOMMIT, 1),
        new Frame(0x00, 1, 0, new byte[0]),
        new Frame(0x7f, 1, 0, new byte[0]),
        // not the magic number
        new Frame(0x01, 1, 0, new byte[64]),
        // something left over
        new Frame(0x0c, 1, 0, new byte[] {0}),
        // a string longer than the frame
        new Frame(0x05, 1, 0, new byte[] {0x7f, -1, -1, -1, 'x'}),
        // a null string where there must be one
        new Frame(0x05, 1, 0, new byte[] {-1, -1, -1, -1}),
        // no UTF-8
        new Frame(0x05, 1, 0, new byte[] {0, 0, 0, 1, (byte) 0xc0}),
        // more ids than bytes
        new Frame(0x0a, 1, 0, new byte[] {0x7f, -1, -1, -1, 0, 0, 0, 0}),
        // a negative count
        new Frame(0x0a, 1, 0, new byte[] {-1, -1, -1, -1, 0, 0, 0, 0}));
  }

  @ParameterizedTest
  @MethodSource("wrong")
  void whatIsNoRequestIsRefused(Frame frame) {
    assertThrows(WireFormatException.class, () -> Request.read(frame));
  }

  @Test
  void aHeartbeatHasALimit() {
    List<Long> tooMany = Stream.generate(() -> 1L).limit(Protocol.MAX_HEARTBEAT_IDS + 1L).toList();
    assertThrows(WireFormatException.class, () -> new Request.Heartbeat(tooMany, List.of()));
  }

  @Test
  void sqlStatesAndCodesAreUnique() {
    Set<String> states = new HashSet<>();
    Set<Integer> codes = new HashSet<>();
    for (SqlState state : SqlState.values()) {
      assertTrue(states.add(state.state()), state.name());
      assertTrue(codes.add(state.vendorCode()), state.name());
      assertEquals(5, state.state().length());
    }
  }

  @Test
  void theWriterGrowsAndCorrects() {
    WireWriter out = new WireWriter(1);
    out.u8(255).u16(65_535).i32(-2).i64(-3).string("\u00e4").nullableString(null);
    int end = out.size();
    out.i32(0).truncate(end);
    out.i32At(3, 42);
    WireReader in = new WireReader(out.array(), 0, out.size());
    assertEquals(255, in.u8());
    assertEquals(65_535, in.u16());
    assertEquals(42, in.i32());
    assertEquals(-3, in.i64());
    assertEquals("\u00e4", in.string());
    assertEquals(null, in.nullableString());
    in.expectEnd();
    assertThrows(WireFormatException.class, in::u8);
    assertThrows(IllegalArgumentException.class, () -> out.truncate(-1));
    assertThrows(IllegalArgumentException.class, () -> out.i32At(out.size(), 1));
    assertThrows(IllegalArgumentException.class, () -> new WireReader(new byte[3], 2, 2));
    out.clear();
    assertEquals(0, out.size());
  }
}
