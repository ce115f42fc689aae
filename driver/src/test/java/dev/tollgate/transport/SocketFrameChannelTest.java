package dev.tollgate.transport;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tollgate.wire.Frame;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.WireWriter;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SocketFrameChannelTest {
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final int FIRST_WITH_VIRTUAL_THREADS = 21;

  private ServerSocket server;
  private SocketFrameChannel channel;
  private Socket node;

  @BeforeEach
  void connect() throws Exception {
    server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    channel =
        SocketFrameChannel.connect(
            new NodeAddress("127.0.0.1", server.getLocalPort()),
            SECOND,
            new SendWatch(),
            Timekeeping.STANDARD);
    node = server.accept();
    node.setTcpNoDelay(true);
  }

  @AfterEach
  void close() throws Exception {
    channel.close();
    node.close();
    server.close();
  }

  private static byte[] bytes(Frame frame) {
    WireWriter out = new WireWriter();
    frame.writeHeader(out);
    out.raw(frame.body(), 0, frame.body().length);
    return out.toByteArray();
  }

  @Test
  void framesArriveWholeHoweverTheyAreCut() throws Exception {
    byte[] first = bytes(new Frame(0x87, 1, 0, new byte[0]));
    byte[] second = bytes(new Frame(0x84, 2, 0, new byte[] {1, 2, 3}));
    byte[] both = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    for (int cut = 1; cut < both.length; cut++) {
      node.getOutputStream().write(both, 0, cut);
      Optional<Frame> early = channel.receive(Duration.ofMillis(5));
      node.getOutputStream().write(both, cut, both.length - cut);
      Frame one = early.isPresent() ? early.get() : channel.receive(SECOND).orElseThrow();
      Frame two = channel.receive(SECOND).orElseThrow();
      assertEquals(1, one.requestId());
      assertArrayEquals(new byte[] {1, 2, 3}, two.body());
    }
  }

  /** What interrupts a platform thread, and a virtual one where the JVM has them. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anInterruptEndsNeitherSendingNorReceiving(boolean virtual) throws Exception {
    CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
    CompletableFuture<Frame> received = new CompletableFuture<>();
    Thread caller =
        start(
            virtual,
            () -> {
              try {
                received.complete(channel.receive(Duration.ofSeconds(10)).orElseThrow());
                channel.send(new Frame(0x01, 8, 0, new byte[0]));
                interrupted.complete(Thread.currentThread().isInterrupted());
              } catch (IOException | RuntimeException e) {
                received.completeExceptionally(e);
                interrupted.completeExceptionally(e);
              }
            });
    await().until(() -> isWaiting(caller));
    caller.interrupt();
    node.getOutputStream().write(bytes(new Frame(0x87, 7, 0, new byte[0])));
    assertEquals(7, received.get(10, TimeUnit.SECONDS).requestId());
    assertTrue(interrupted.get(10, TimeUnit.SECONDS), "the interrupt was lost");
    byte[] expected = bytes(new Frame(0x01, 8, 0, new byte[0]));
    assertArrayEquals(expected, node.getInputStream().readNBytes(expected.length));
    caller.join();
  }

  /** A platform thread within a read of a socket is RUNNABLE for the JVM. */
  private static boolean isWaiting(Thread caller) {
    return caller.getState() == Thread.State.WAITING
        || Arrays.stream(caller.getStackTrace()).anyMatch(e -> e.getMethodName().equals("receive"));
  }

  private static Thread start(boolean virtual, Runnable work) throws Exception {
    if (!virtual) {
      Thread thread = new Thread(work);
      thread.start();
      return thread;
    }
    assumeTrue(Runtime.version().feature() >= FIRST_WITH_VIRTUAL_THREADS);
    return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, work);
  }

  @Test
  void theLargestFrameTravelsBothWays() throws Exception {
    byte[] body = new byte[Protocol.MAX_FRAME_BYTES - Protocol.HEADER_BYTES];
    body[body.length - 1] = 42;
    Frame frame = new Frame(0x06, 9, 0, body);
    CompletableFuture<byte[]> echo =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                DataInputStream in = new DataInputStream(node.getInputStream());
                byte[] read = new byte[4 + in.readInt()];
                in.readFully(read, 4, read.length - 4);
                byte[] sent = bytes(frame);
                System.arraycopy(sent, 0, read, 0, 4);
                node.getOutputStream().write(read);
                return read;
              } catch (IOException e) {
                throw new IllegalStateException(e);
              }
            });
    channel.send(frame);
    Frame back = channel.receive(Duration.ofSeconds(10)).orElseThrow();
    echo.join();
    assertEquals(42, back.body()[body.length - 1]);
    assertEquals(body.length, back.body().length);
  }

  @Test
  void nothingArrivesInTime() throws Exception {
    long start = System.nanoTime();
    assertEquals(Optional.empty(), channel.receive(Duration.ofMillis(50)));
    assertTrue(System.nanoTime() - start >= 40_000_000);
    assertEquals(Optional.empty(), channel.receive(Duration.ZERO));
  }

  @Test
  void aFrameOfImpossibleLengthBreaksTheConnection() throws Exception {
    for (int length : new int[] {-1, 0, Protocol.MAX_FRAME_BYTES + 1, Integer.MAX_VALUE}) {
      close();
      connect();
      node.getOutputStream().write(new WireWriter().i32(length).toByteArray());
      assertThrows(IOException.class, () -> channel.receive(SECOND), "length " + length);
    }
  }

  @Test
  void whatIsNoFrameBreaksTheConnection() throws Exception {
    node.getOutputStream()
        .write(
            "\0\0\0\u0010HTTP/1.1 200 OK\r\n".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
    assertThrows(IOException.class, () -> channel.receive(SECOND));
  }

  @Test
  void theEndOfTheConnectionIsAnError() throws Exception {
    node.getOutputStream().write(new byte[] {0, 0});
    node.close();
    assertThrows(IOException.class, () -> channel.receive(SECOND));
  }

  @Test
  void closingWakesAReader() {
    CompletableFuture<Void> closing =
        CompletableFuture.runAsync(
            channel::close,
            CompletableFuture.delayedExecutor(50, java.util.concurrent.TimeUnit.MILLISECONDS));
    assertThrows(IOException.class, () -> channel.receive(Duration.ofSeconds(10)));
    closing.join();
    assertThrows(IOException.class, () -> channel.send(new Frame(1, 1, 0, new byte[0])));
  }

  @Test
  void aWriteThatNobodyReadsIsCutOff() throws Exception {
    SendWatch watch = new SendWatch();
    Client.ManualClock clock = new Client.ManualClock();
    SocketFrameChannel stuck =
        SocketFrameChannel.connect(
            new NodeAddress("127.0.0.1", server.getLocalPort()),
            SECOND,
            watch,
            new Timekeeping(clock, Timing.STANDARD));
    try (Socket deaf = server.accept()) {
      CompletableFuture<Void> writing =
          CompletableFuture.runAsync(
              () ->
                  assertThrows(
                      IOException.class, () -> stuck.send(new Frame(1, 1, 0, new byte[15 << 20]))));
      watch.closeStuck(clock.getAsLong(), SECOND);
      assertThrows(
          java.util.concurrent.TimeoutException.class,
          () -> writing.get(100, java.util.concurrent.TimeUnit.MILLISECONDS));
      await()
          .until(
              () -> {
                clock.advance(Duration.ofSeconds(2));
                watch.closeStuck(clock.getAsLong(), SECOND);
                return writing.isDone();
              });
      writing.get();
      assertTrue(deaf.isConnected());
    }
  }

  @Test
  void addressesAreReadAsTheyAreWritten() {
    for (String text : new String[] {"h:1", "[::1]:7400", "10.0.0.1:65535"}) {
      assertEquals(text, NodeAddress.parse(text).toString());
    }
  }
}
