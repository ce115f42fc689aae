package dev.tollgate.wire;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Bytes of a stranger: refused with one kind of exception, and without much memory. */
class HostileFramesTest {
  private static final int ROUNDS = 50_000;

  /** A message may take this many times its bytes, and some. */
  private static final int MAX_GROWTH = 64;

  private final long seed = Long.getLong("tollgate.seed", System.nanoTime());
  private final Random random = new Random(seed);

  @Test
  void randomBytesAreRefused() {
    for (int i = 0; i < ROUNDS; i++) {
      byte[] body = new byte[random.nextInt(200)];
      random.nextBytes(body);
      int type = random.nextInt(0x90);
      check(new Frame(type, 1, 0, body));
    }
  }

  @Test
  void messagesWithFlippedBytesAreRefusedOrRead() {
    List<Frame> frames = new ArrayList<>();
    Samples.REQUESTS.forEach(request -> frames.add(Samples.frame(request)));
    Samples.REPLIES.forEach(reply -> frames.add(Samples.frame(reply)));
    for (int i = 0; i < ROUNDS; i++) {
      Frame frame = frames.get(random.nextInt(frames.size()));
      check(new Frame(frame.type(), 1, 0, mutate(frame.body())));
    }
  }

  private byte[] mutate(byte[] original) {
    byte[] body = original.clone();
    if (body.length > 0) {
      for (int n = 1 + random.nextInt(3); n > 0; n--) {
        body[random.nextInt(body.length)] =
            (byte) (random.nextBoolean() ? random.nextInt() : random.nextInt(2) * 255);
      }
    }
    return random.nextInt(4) == 0
        ? java.util.Arrays.copyOf(body, random.nextInt(body.length + 2))
        : body;
  }

  private void check(Frame frame) {
    read(frame, Request::read);
    read(frame, Reply::read);
  }

  private void read(Frame frame, Consumer<Frame> reader) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    try {
      reader.accept(frame);
    } catch (WireFormatException e) {
      // refused, as it should be
    } catch (RuntimeException | Error e) {
      fail("tollgate.seed=" + seed + ": " + frame, e);
    }
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    assertTrue(
        allocated <= 1_000_000 + (long) MAX_GROWTH * frame.lengthBytes(),
        "tollgate.seed=" + seed + ": " + frame + " took " + allocated + " bytes");
  }
}
